#include "core/probe/trajectory/state_moments.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <ATen/TensorOperators.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/linalg_qr.h>
#include <ATen/ops/linalg_svdvals.h>
#include <ATen/ops/linspace.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>

#include "core/probe/trajectory/feature_moments.hpp"
#include "tests/support/verdict.hpp"

namespace depthgrid {
namespace state_moments_test {

at::Tensor gaussian(at::IntArrayRef sizes) {
  return at::randn(sizes, at::kDouble);
}

at::Tensor orthonormal(std::int64_t rows, std::int64_t columns) {
  return std::get<0>(at::linalg_qr(gaussian({rows, columns}), "reduced"));
}

/// Moments of states (D, n, C), added in three pieces.
std::unique_ptr<StateMoments> moments_of(const at::Tensor& x, bool pairs = true) {
  const std::int64_t n = x.size(1);
  auto out = make_state_moments(x.size(0), n, x.size(2), pairs);
  for (std::int64_t part = 0; part < 3; ++part) {
    const std::int64_t first = part * n / 3;
    out->add(x.narrow(1, first, (part + 1) * n / 3 - first));
  }
  return out;
}

std::vector<double> cka_of(const at::Tensor& x) {
  return debiased_cka(moments_of(x)->gram_sums(), x.size(1));
}

/// HSIC_1 as it is defined, from n x n matrices.
double hsic_by_definition(const at::Tensor& x, const at::Tensor& y) {
  const auto n = static_cast<double>(x.size(0));
  const at::Tensor apart = 1 - at::eye(x.size(0), at::kDouble);
  const at::Tensor k = at::matmul(x, x.t()) * apart, l = at::matmul(y, y.t()) * apart;
  const double trace = at::matmul(k, l).diagonal().sum().item<double>();
  const double totals = k.sum().item<double>() * l.sum().item<double>();
  const double cross = at::matmul(k, l).sum().item<double>();
  return (trace + totals / ((n - 1) * (n - 2)) - 2 * cross / (n - 2)) / (n * (n - 3));
}

double cka_by_definition(const at::Tensor& x, const at::Tensor& y) {
  return hsic_by_definition(x, y) / std::sqrt(hsic_by_definition(x, x) * hsic_by_definition(y, y));
}

/// |Y'X|^2 / (|X'X| |Y'Y|), centred.
double biased_cka(const at::Tensor& x, const at::Tensor& y) {
  const at::Tensor u = x - x.mean(0), v = y - y.mean(0);
  const auto norm = [](const at::Tensor& a, const at::Tensor& b) {
    return at::matmul(a.t(), b).norm().item<double>();
  };
  return std::pow(norm(u, v), 2) / (norm(u, u) * norm(v, v));
}

TEST(TrajectoryCka, EqualsTheDefinitionOverPairsOfTokens) {
  for (const auto& [tokens, channels] : {std::pair{60, 10}, {30, 30}, {12, 30}, {4, 2}}) {
    SCOPED_TRACE(std::to_string(tokens) + " tokens, " + std::to_string(channels) + " channels");
    at::Tensor x = gaussian({4, tokens, channels});
    x[1] += 0.7 * x[0];
    x[2] = x[1] * 3 + 50 * gaussian({channels});  // far from the origin
    const std::vector<double> cka = cka_of(x);
    for (std::int64_t a = 0; a < 4; ++a) {
      for (std::int64_t b = 0; b < 4; ++b) {
        // The definition does not change with the mean, but rounds less without it.
        const double expected = cka_by_definition(x[a] - x[a].mean(0), x[b] - x[b].mean(0));
        const double found = cka[static_cast<std::size_t>(4 * a + b)];
        if (std::isnan(expected)) {
          EXPECT_TRUE(std::isnan(found));
        } else {
          EXPECT_NEAR(found, expected, 1e-9 * std::max(1.0, std::abs(expected))) << a << b;
        }
      }
    }
  }
}

TEST(TrajectoryCka, OfStoredStatesIsThatOfSums) {
  const at::Tensor x = gaussian({3, 40, 6}).to(at::kFloat).to(at::kDouble);
  StoredStates stored;
  stored.add(x.narrow(1, 0, 15));
  stored.add(x.narrow(1, 15, 25));
  FeatureMoments sums(/*pairs=*/true);
  sums.add(x);
  const std::vector<double> found = debiased_cka(stored.gram_sums(), 40);
  const std::vector<double> expected = debiased_cka(sums.gram_sums(), 40);
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-12);
  EXPECT_LT((stored.scatters() - sums.scatters()).abs().max().item<double>(), 1e-12);
}

TEST(TrajectoryCka, OfAWideAndDeepModelKeepsStatesInTheStead) {
  const auto kept = [](std::int64_t depths, std::int64_t channels, bool pairs) {
    const auto moments = make_state_moments(depths, 8192, channels, pairs);
    return dynamic_cast<const StoredStates*>(moments.get()) != nullptr;
  };
  EXPECT_FALSE(kept(7, 1024, true)) << "0.2 GB of sums";
  EXPECT_TRUE(kept(25, 1024, true)) << "2.7 GB of sums, 0.8 GB of states";
  EXPECT_FALSE(kept(25, 1024, false));
}

TEST(TrajectoryCka, IsOneForRotatedScaledAndShiftedStates) {
  for (const std::int64_t tokens : {200, 24}) {
    const at::Tensor x = gaussian({tokens, 32});
    const at::Tensor turned = at::matmul(x, orthonormal(32, 32)) * 0.01 + gaussian({32});
    const at::Tensor other = x * at::linspace(0.5, 2, 32, at::kDouble);  // stretched: not the same
    const std::vector<double> cka = cka_of(at::stack({x, x, turned, other}));

    for (const std::size_t i : {0, 1, 2, 5, 6, 10}) EXPECT_NEAR(cka[i], 1, 1e-9) << i;
    EXPECT_LT(cka[3], 0.97);
    EXPECT_GT(cka[3], 0.6);
  }
}

TEST(TrajectoryCka, OfIndependentStatesIsAboutZeroWhereTheBiasedFormulaIsNot) {
  const at::Tensor x = gaussian({3, 1024, 256});
  const std::vector<double> cka = cka_of(x);

  for (const std::size_t i : {1, 2, 5}) EXPECT_LE(std::abs(cka[i]), 0.006) << i;
  EXPECT_NEAR(biased_cka(x[0], x[1]), 0.2, 0.01);
}

TEST(TrajectoryCka, OfAHundredAndTwentyEightIndependentTokensIsAboutZero) {
  const at::Tensor x = gaussian({3, 128, 256});
  const std::vector<double> cka = cka_of(x);
  double worst = 0;
  for (const std::size_t i : {1, 2, 5}) worst = std::max(worst, std::abs(cka[i]));
  testing::verdict(33, "debiased CKA of independent Gaussians, n = 128, d = 256: largest of three",
                   worst, testing::at_most(0.03));
  testing::verdict(33, "the biased formula there", biased_cka(x[0], x[1]),
                   testing::near(0.67, 0.02));
  const at::Tensor turned = at::matmul(x[0], orthonormal(256, 256));
  testing::verdict(33, "CKA(X, XQ), Q orthogonal, biased", biased_cka(x[0], turned),
                   testing::near(1, 1e-6));
}

TEST(TrajectoryCka, IsUndefinedForTokensThatAreAllTheSame) {
  at::Tensor x = gaussian({2, 40, 5});
  x[1].zero_();
  const std::vector<double> cka = cka_of(x);

  EXPECT_NEAR(cka[0], 1, 1e-12);
  for (const std::size_t i : {1, 2, 3}) EXPECT_TRUE(std::isnan(cka[i])) << i;
}

Spectrum spectrum_at(const at::Tensor& x, std::int64_t depth) {
  return spectrum_of(moments_of(x, /*pairs=*/false)->scatters()[depth]);
}

TEST(TrajectorySpectrum, OfRankKWithEqualSingularValuesIsK) {
  for (const auto& [tokens, channels, rank] :
       {std::tuple{300, 64, 5}, {300, 64, 64}, {40, 64, 7}, {300, 64, 1}}) {
    at::Tensor cloud = gaussian({tokens, rank});
    cloud = std::get<0>(at::linalg_qr(cloud - cloud.mean(0), "reduced"));  // columns of mean 0
    const at::Tensor x = at::matmul(cloud, orthonormal(channels, rank).t()) + gaussian({channels});
    const Spectrum found = spectrum_at(at::stack({gaussian(x.sizes()), x}), 1);
    EXPECT_NEAR(found.effective_rank, rank, 1e-6 * rank);
    testing::verdict(34, "effective rank of equal singular values, rank " + std::to_string(rank),
                     found.effective_rank, testing::near(rank, 1e-3));
    EXPECT_NEAR(found.participation_ratio, rank, 1e-9 * rank);
  }
}

TEST(TrajectorySpectrum, OfGaussiansEqualsThatOfTheirSingularValues) {
  for (const auto& [tokens, channels] : {std::pair{128, 256}, {400, 48}}) {
    const at::Tensor x = gaussian({1, tokens, channels}) * at::randn({channels}, at::kDouble).exp();
    const at::Tensor s = at::linalg_svdvals(x[0] - x[0].mean(0));
    // The centred matrix has one singular value less than it has tokens.
    const at::Tensor kept = s.narrow(0, 0, std::min(tokens - 1, channels)), p = kept / kept.sum();
    const double entropy = -(p * p.log()).sum().item<double>();
    const double ratio = std::pow(s.pow(2).sum().item<double>(), 2) / s.pow(4).sum().item<double>();
    const Spectrum found = spectrum_at(x, 0);

    EXPECT_NEAR(found.effective_rank, std::exp(entropy), 1e-7 * std::exp(entropy));
    EXPECT_NEAR(found.participation_ratio, ratio, 1e-10 * ratio);
  }
}

TEST(TrajectorySpectrum, OfIsotropicGaussiansHasItsKnownBaseline) {
  // 128 tokens of 256 channels: 117 and 85 of 127.
  const Spectrum found = spectrum_at(gaussian({1, 128, 256}), 0);
  EXPECT_NEAR(found.effective_rank, 117, 1);
  EXPECT_NEAR(found.participation_ratio, 85, 1.5);
}

TEST(TrajectorySpectrum, OfNothingIsUndefined) {
  const Spectrum same = spectrum_of(at::zeros({4, 4}, at::kDouble));
  EXPECT_TRUE(std::isnan(same.effective_rank));
  EXPECT_TRUE(std::isnan(same.participation_ratio));
  const at::Tensor bad = at::eye(4, at::kDouble) * std::numeric_limits<double>::infinity();
  EXPECT_TRUE(std::isnan(spectrum_of(bad).effective_rank));
}

}  // namespace state_moments_test
}  // namespace depthgrid
