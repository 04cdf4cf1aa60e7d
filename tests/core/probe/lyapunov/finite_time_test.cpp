#include "core/probe/lyapunov/finite_time.hpp"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include <ATen/Context.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/full.h>
#include <ATen/ops/linalg_qr.h>
#include <ATen/ops/linalg_slogdet.h>
#include <ATen/ops/linalg_svdvals.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/triu.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include "core/base/error.hpp"
#include "core/probe/lyapunov/depth_spectrum.hpp"
#include "tests/core/probe/lyapunov/toy_maps.hpp"

namespace depthgrid::testing {
namespace finite_time_test {

double worst(const at::Tensor& a, const at::Tensor& b) {
  return (a - b).abs().max().item<double>();
}

at::Tensor log_singular_values(const at::Tensor& matrix) {
  return at::linalg_svdvals(matrix).log();
}

/// The numbers of one cell.
Stretches of_cell(const Stretches& s, std::int64_t e) {
  const auto one = [e](const at::Tensor& t) { return t.narrow(0, e, 1); };
  return {one(s.log_stretch),
          one(s.error),
          one(s.bound),
          one(s.iterations),
          one(s.converged),
          one(s.log_det),
          s.all.defined() ? one(s.all) : s.all,
          one(s.directions)};
}

void expect_same_bits(const Stretches& a, const Stretches& b) {
  EXPECT_TRUE(at::equal(a.log_stretch, b.log_stretch));
  EXPECT_TRUE(at::equal(a.error.nan_to_num(7), b.error.nan_to_num(7)));
  EXPECT_TRUE(at::equal(a.bound.nan_to_num(7), b.bound.nan_to_num(7)));
  EXPECT_TRUE(at::equal(a.iterations, b.iterations));
  EXPECT_TRUE(at::equal(a.converged, b.converged));
  EXPECT_TRUE(at::equal(a.directions, b.directions));
}

/// A network of six random linear layers: at such a depth QR does not see the leading exponent.
TEST(FiniteTime, QrFromTheIdentityReportsTooLittleWhereTheSubspaceDoesNot) {
  const std::int64_t n = 64;
  const at::Tensor layers = seeded({n, n}, {1, 2, 3, 4, 5, 6}, 9) * (0.6 / std::sqrt(64.0));
  at::Tensor whole = at::eye(n, at::kDouble), frame = at::eye(n, at::kDouble).view({1, 1, n, n});
  at::Tensor rates = at::zeros({1, 1, n}, at::kDouble);
  const at::Tensor x = at::randn({1, 1, 8, 8}, at::kDouble);
  for (std::int64_t l = 0; l < 6; ++l) {
    const at::Tensor step = at::eye(n, at::kDouble) + layers[l];
    whole = at::matmul(step, whole);
    rates = rates + advance_frame(TangentMap(linear_map(step), x), frame);
  }
  const at::Tensor exact = log_singular_values(whole);
  const Stretches found =
      largest_stretches(TangentMap(linear_map(whole), x),
                        {.exponents = 4, .oversampling = 8, .iterations = 32, .tolerance = 1e-9});

  const double best = rates.max().item<double>(), first = rates[0][0][0].item<double>();
  EXPECT_LT(worst(found.log_stretch[0][0], exact.narrow(0, 0, 4)), 1e-6);
  EXPECT_LT(best, 0.6 * exact[0].item<double>());
  EXPECT_LT(first, 0.6 * exact[0].item<double>());
  EXPECT_NEAR(rates.sum().item<double>(), exact.sum().item<double>(), 1e-8);  // ln |det| is exact
}

TEST(FiniteTime, FewIterationsAreEnoughForTheLeadingExponent) {
  const CausalToy toy(6, 8, {3});
  const at::Tensor x = at::randn({1, 1, 8, 8}, at::kDouble);
  const double exact = log_singular_values(dense_jacobian(toy, x))[0].item<double>();
  const TangentMap map(toy, x);
  double before = 1;
  for (const std::int64_t iterations : {1, 2, 4, 6}) {
    const double found =
        largest_stretches(map, {.exponents = 4, .iterations = iterations, .tolerance = 1e-12})
            .log_stretch[0][0][0]
            .item<double>();
    EXPECT_LE(found, exact + 1e-12);  // from below
    EXPECT_LT(exact - found, before);
    before = std::max(exact - found, 1e-12) * 1.0001;
  }
  EXPECT_LT(before, 1e-6);
}

TEST(FiniteTime, AgreesWithTheDenseJacobianOfANetwork) {
  const CausalToy toy(4, 8, {3, 4});
  const at::Tensor x = at::randn({2, 2, 5, 8}, at::kDouble);
  const Stretches few =
      largest_stretches(TangentMap(toy, x), {.exponents = 4, .iterations = 32, .tolerance = 1e-10});
  const Stretches all = largest_stretches(TangentMap(toy, x), {.exponents = 40});

  for (std::int64_t e = 0; e < 2; ++e) {
    const CausalToy one(4, 8, {3 + static_cast<std::uint64_t>(e)});
    for (std::int64_t b = 0; b < 2; ++b) {
      const at::Tensor jacobian = dense_jacobian(one, x.narrow(0, e, 1).narrow(1, b, 1));
      const at::Tensor exact = log_singular_values(jacobian);
      EXPECT_LT(worst(few.log_stretch[e][b], exact.narrow(0, 0, 4)), 1e-6);
      EXPECT_TRUE(few.converged[e][b].item<bool>());
      EXPECT_TRUE(std::isnan(few.log_det[e][b].item<double>()));
      EXPECT_LT(worst(all.log_stretch[e][b], exact), 1e-10);
      EXPECT_EQ(all.iterations[e][b].item<std::int64_t>(), 1);  // a complete basis is exact
      EXPECT_NEAR(all.log_det[e][b].item<double>(),
                  std::get<1>(at::linalg_slogdet(jacobian)).item<double>(), 1e-8);
      // Upper causal blocks: a token does not move those before it.
      const at::Tensor blocks = jacobian.view({5, 8, 5, 8}).abs().amax({1, 3});
      EXPECT_EQ(at::triu(blocks, 1).abs().max().item<double>(), 0);
    }
  }
}

TEST(FiniteTime, AFullFrameThroughTheLayersSumsToTheDeterminant) {
  const CausalToy toy(4, 4, {7});
  at::Tensor x = at::randn({1, 1, 4, 4}, at::kDouble);
  const double exact = std::get<1>(at::linalg_slogdet(dense_jacobian(toy, x))).item<double>();
  at::Tensor frame =
      std::get<0>(at::linalg_qr(at::randn({16, 16}, at::kDouble))).view({1, 1, 16, 16});
  double sum = 0;
  for (std::size_t l = 0; l < 4; ++l) {
    const TangentMap step([&](const at::Tensor& y) { return toy.layer(l, y); }, x);
    sum += advance_frame(step, frame).sum().item<double>();
    x = step.value();
  }
  EXPECT_NEAR(sum, exact, 1e-8);
}

TEST(FiniteTime, ASmallPerturbationAlongTheFirstDirectionGrowsAsMuch) {
  const CausalToy toy(4, 8, {3});
  const at::Tensor x = at::randn({1, 1, 5, 8}, at::kDouble);
  const Stretches found =
      largest_stretches(TangentMap(toy, x), {.exponents = 2, .iterations = 32, .tolerance = 1e-10});
  const at::Tensor small = found.directions[0][0][0].view(x.sizes()) * 1e-6;

  const double ratio = ((toy(x + small) - toy(x)).norm() / small.norm()).item<double>();

  EXPECT_NEAR(std::log(ratio), found.log_stretch[0][0][0].item<double>(), 1e-4);
}

TEST(FiniteTime, DirectionsAreOrthonormal) {
  const CausalToy toy(3, 8, {3, 4}, at::kFloat);
  const Stretches found =
      largest_stretches(TangentMap(toy, at::randn({2, 2, 5, 8}, at::kFloat)), {.exponents = 6});
  const at::Tensor v = found.directions;
  EXPECT_LT(worst(at::matmul(v, v.transpose(2, 3)), at::eye(6, at::kDouble)), 1e-12);
}

TEST(FiniteTime, SinglePrecisionIsEnough) {
  const at::Tensor x = at::randn({1, 1, 5, 8}, at::kDouble);
  const SubspaceOptions o{.exponents = 4, .iterations = 32, .tolerance = 1e-6};
  const Stretches wide = largest_stretches(TangentMap(CausalToy(4, 8, {3}), x), o);
  const Stretches narrow =
      largest_stretches(TangentMap(CausalToy(4, 8, {3}, at::kFloat), x.to(at::kFloat)), o);
  EXPECT_LT(worst(wide.log_stretch, narrow.log_stretch), 1e-5);
}

TEST(FiniteTime, TheErrorBoundsTheDistanceToTheLimit) {
  const CausalToy toy(6, 8, {3});
  const at::Tensor x = at::randn({1, 1, 8, 8}, at::kDouble);
  const at::Tensor exact = log_singular_values(dense_jacobian(toy, x)).narrow(0, 0, 4);
  const Stretches found = largest_stretches(
      TangentMap(toy, x), {.exponents = 4, .oversampling = 8, .iterations = 4, .tolerance = 1e-12});
  const at::Tensor distance = (found.log_stretch[0][0] - exact).abs();
  EXPECT_TRUE(distance.le(found.error[0][0] + 1e-9).all().item<bool>());
  EXPECT_FALSE(found.converged.item<bool>());
  const Stretches once = largest_stretches(TangentMap(toy, x), {.exponents = 4, .iterations = 1});
  EXPECT_TRUE(once.error.isnan().all().item<bool>());
}

/// A matrix with these singular values and random singular vectors.
at::Tensor with_singular_values(const at::Tensor& s) {
  const std::int64_t n = s.size(0);
  const auto turn = [n] { return std::get<0>(at::linalg_qr(at::randn({n, n}, at::kDouble))); };
  return at::matmul(turn() * s, turn());
}

/// ln s of each iterate, less that of the singular value nearest to it.
at::Tensor distances(const at::Tensor& logs, const at::Tensor& exact) {
  return (logs.unsqueeze(1) - exact).abs().amin(1);
}

TEST(FiniteTime, ASingularValueLiesWithinTheBound) {
  const std::int64_t n = 120;
  const at::Tensor x = at::zeros({1, 1, 12, 10}, at::kDouble);
  const at::Tensor i = at::arange(n, at::kDouble);
  const at::Tensor random = at::randn({n, n}, at::kDouble);
  const struct {
    const char* name;
    at::Tensor matrix;
    double tightest;  // the bound over the distance is smaller somewhere
  } maps[] = {{"random", random, 100},
              {"separated", with_singular_values((i * -0.4).exp()), 10},
              {"ill-separated", with_singular_values(1 + (i * -0.05).exp() * 1e-2), 100},
              {"two clusters", with_singular_values(at::where(i < 3, 2.0, 1.0) + i * 1e-9), 1e9}};
  for (const auto& one : maps) {
    SCOPED_TRACE(one.name);
    const at::Tensor exact = log_singular_values(one.matrix);
    double tightest = 1e300;
    for (const std::int64_t iterations : {1, 2, 3, 5, 9}) {
      const Stretches found = largest_stretches(
          TangentMap(linear_map(one.matrix), x),
          {.exponents = 4, .oversampling = 2, .iterations = iterations, .tolerance = 1e-15});
      const at::Tensor logs = found.log_stretch[0][0], bound = found.bound[0][0];
      const at::Tensor distance = distances(logs, exact);
      EXPECT_TRUE(distance.le(bound + 1e-12).all().item<bool>()) << iterations;
      // The i-th singular value is never below.
      EXPECT_TRUE(logs.le(exact.narrow(0, 0, 4) + 1e-12).all().item<bool>()) << iterations;
      tightest = std::min(tightest, (bound / distance.clamp_min(1e-12)).min().item<double>());
    }
    EXPECT_LT(tightest, one.tightest) << "no bound to speak of";
  }
}

/// Negative control: with singular values denied the bound is broken, and the change of the last
/// iteration is none.
TEST(FiniteTime, TheBoundIsBrokenBySingularValuesThatAreNotTheMatrixsOwn) {
  const at::Tensor x = at::zeros({1, 1, 12, 10}, at::kDouble);
  const at::Tensor matrix = with_singular_values((at::arange(120, at::kDouble) * -0.02).exp());
  const at::Tensor exact = log_singular_values(matrix);
  const at::Tensor thinned = exact.slice(0, 0, 120, 40);  // with 117 singular values denied
  const Stretches found =
      largest_stretches(TangentMap(linear_map(matrix), x),
                        {.exponents = 4, .oversampling = 2, .iterations = 6, .tolerance = 1e-15});
  const at::Tensor logs = found.log_stretch[0][0];
  EXPECT_TRUE(distances(logs, exact).le(found.bound[0][0]).all().item<bool>());
  EXPECT_FALSE(distances(logs, thinned).le(found.bound[0][0]).all().item<bool>());
  const at::Tensor short_of = exact.narrow(0, 0, 4) - logs;
  EXPECT_FALSE(short_of.le(found.error[0][0]).all().item<bool>()) << "the last change is no bound";
}

/// One vector among a hundred directions of stretch 1 has found one of those, and says so to 1 %;
/// the single direction of stretch 1.05 leaves no trace in its residual.
TEST(FiniteTime, TheBoundDoesNotSayWhichSingularValueIsNear) {
  const at::Tensor s = at::ones({100}, at::kDouble);
  s[0].fill_(1.05);
  const Stretches found = largest_stretches(
      TangentMap(linear_map(with_singular_values(s)), at::zeros({1, 1, 10, 10}, at::kDouble)),
      {.exponents = 1, .oversampling = 0, .iterations = 1});
  const double log = found.log_stretch.item<double>(), bound = found.bound.item<double>();
  EXPECT_LE(log, bound) << "of 0";
  EXPECT_LT(log + bound, std::log(1.05)) << "which is missed";
}

TEST(FiniteTime, AnIterateWithoutInformationHasAnInfiniteBound) {
  const at::Tensor s = at::full({100}, 1e-6, at::kDouble);
  s[0].fill_(1);
  const Stretches found = largest_stretches(
      TangentMap(linear_map(with_singular_values(s)), at::zeros({1, 1, 10, 10}, at::kDouble)),
      {.exponents = 1, .oversampling = 0, .iterations = 1});
  EXPECT_TRUE(std::isinf(found.bound.item<double>()));
}

TEST(FiniteTime, ACellHasTheSameBitsAloneAndFused) {
  const at::Tensor x = seeded({2, 6, 8}, {21, 22, 23}, 1);
  const SubspaceOptions o{.exponents = 4, .oversampling = 2, .iterations = 20, .tolerance = 1e-3};
  const Stretches fused = largest_stretches(TangentMap(CausalToy(4, 8, {3, 4, 5}), x), o);
  EXPECT_GT(fused.iterations.max().item<std::int64_t>(),
            fused.iterations.min().item<std::int64_t>());  // each ends when it is ready
  for (std::int64_t e = 0; e < 3; ++e) {
    const CausalToy one(4, 8, {3 + static_cast<std::uint64_t>(e)});
    const Stretches alone = largest_stretches(TangentMap(one, x.narrow(0, e, 1)), o);
    expect_same_bits(alone, of_cell(fused, e));
  }
  expect_same_bits(fused, largest_stretches(TangentMap(CausalToy(4, 8, {3, 4, 5}), x), o));
}

TEST(FiniteTime, ACellThatIsNotFiniteLeavesItsNeighboursAlone) {
  const at::Tensor x = seeded({2, 5, 8}, {21, 22, 23}, 1);
  const CausalToy toy(4, 8, {3, 4, 5});
  const SubspaceOptions o{.exponents = 4};
  const Stretches sound = largest_stretches(TangentMap(toy, x), o);
  toy.own[2][1].fill_(std::nan(""));

  const Stretches found = largest_stretches(TangentMap(toy, x), o);

  expect_same_bits(of_cell(sound, 0), of_cell(found, 0));
  expect_same_bits(of_cell(sound, 2), of_cell(found, 2));
  EXPECT_TRUE(found.log_stretch[1].isnan().all().item<bool>());
  EXPECT_TRUE(found.bound[1].isnan().all().item<bool>());
  EXPECT_FALSE(found.converged[1].any().item<bool>());
}

TEST(FiniteTime, ASequenceDoesNotDependOnItsBatch) {
  const at::Tensor x = seeded({3, 5, 8}, {21}, 1);
  const CausalToy toy(4, 8, {3});
  const Stretches all = largest_stretches(TangentMap(toy, x), {.exponents = 4});
  const Stretches last =
      largest_stretches(TangentMap(toy, x.narrow(1, 2, 1)), {.exponents = 4, .first_sequence = 2});
  EXPECT_TRUE(at::allclose(all.log_stretch.narrow(1, 2, 1), last.log_stretch, 1e-9, 1e-9));
}

TEST(FiniteTime, MoreExponentsThanDimensionsAreAbsent) {
  const at::Tensor x = at::randn({1, 1, 1, 3}, at::kDouble);
  const Stretches found =
      largest_stretches(TangentMap([](const at::Tensor& y) { return y * 2; }, x), {.exponents = 5});
  EXPECT_LT(
      worst(found.log_stretch[0][0].narrow(0, 0, 3), at::full({3}, std::log(2.0), at::kDouble)),
      1e-12);
  EXPECT_TRUE(found.log_stretch[0][0].narrow(0, 3, 2).isnan().all().item<bool>());
  EXPECT_NEAR(found.log_det.item<double>(), 3 * std::log(2.0), 1e-12);
}

TEST(FiniteTime, TheGlobalGeneratorIsNotUsed) {
  const at::Tensor x = seeded({1, 4, 4}, {1}, 1);
  at::manual_seed(5);
  const at::Tensor undisturbed = at::randn({3});
  at::manual_seed(5);
  largest_stretches(TangentMap(CausalToy(2, 4, {3}), x), {});
  EXPECT_TRUE(at::equal(undisturbed, at::randn({3})));
}

TEST(FiniteTime, RefusesOptionsWithoutMeaning) {
  const TangentMap map([](const at::Tensor& y) { return y; }, at::randn({1, 1, 1, 3}));
  EXPECT_THROW(largest_stretches(map, {.exponents = 0}), Error);
  EXPECT_THROW(largest_stretches(map, {.iterations = 0}), Error);
}

}  // namespace finite_time_test
}  // namespace depthgrid::testing
