#include "core/probe/trajectory/state_moments.hpp"

#include <cmath>
#include <cstddef>
#include <span>
#include <utility>

#include <ATen/TensorOperators.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/linalg_eigvalsh.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/stack.h>

#include "core/probe/trajectory/feature_moments.hpp"

namespace depthgrid {
namespace {

/// Moments as n x n matrices of inner products of the tokens less their mean: cheaper and smaller
/// than C x C sums when there are fewer tokens than channels. Keeps all states.
class TokenGrams final : public StateMoments {
 public:
  void add(const at::Tensor& x) override { states_.push_back(x); }
  at::Tensor scatters() const override;
  GramSums gram_sums() const override;

 private:
  std::vector<at::Tensor> states_;  // (D, T, C) each
};

at::Tensor TokenGrams::scatters() const {
  const at::Tensor x = at::cat(states_, 1);
  const at::Tensor centred = x - x.mean(1, /*keepdim=*/true);
  return at::bmm(centred, centred.transpose(1, 2));
}

GramSums TokenGrams::gram_sums() const {
  at::Tensor grams = scatters();
  grams.diagonal(0, 1, 2).zero_();
  const at::Tensor rows = grams.sum(2);      // (D, n)
  const at::Tensor flat = grams.flatten(1);  // symmetric: tr(K_a K_b) is the inner product
  return {.trace = at::mm(flat, flat.t()).cpu(),
          .cross = at::mm(rows, rows.t()).cpu(),
          .total = rows.sum(1).cpu()};
}

constexpr std::int64_t kMostPairNumbers = std::int64_t{1} << 26;  // half a gibibyte of doubles

}  // namespace

std::unique_ptr<StateMoments> make_state_moments(std::int64_t depths, std::int64_t tokens,
                                                 std::int64_t channels, bool pairs) {
  if (tokens < channels) return std::make_unique<TokenGrams>();
  const std::int64_t numbers = depths * (depths + 1) / 2 * channels * channels;
  if (pairs && numbers > kMostPairNumbers) return std::make_unique<StoredStates>();
  return std::make_unique<FeatureMoments>(pairs);
}

std::vector<double> debiased_cka(const GramSums& sums, std::int64_t tokens) {
  const auto n = static_cast<double>(tokens);
  const auto trace = sums.trace.accessor<double, 2>();
  const auto cross = sums.cross.accessor<double, 2>();
  const auto total = sums.total.accessor<double, 1>();
  const std::int64_t sets = trace.size(0);
  // The factor 1 / (n (n - 3)) cancels.
  const auto hsic = [&](std::int64_t a, std::int64_t b) {
    return trace[a][b] + total[a] * total[b] / ((n - 1) * (n - 2)) - 2 * cross[a][b] / (n - 2);
  };
  const auto root = [&](std::int64_t a) {
    const double own = hsic(a, a);
    return own > 0 ? std::sqrt(own) : std::numeric_limits<double>::quiet_NaN();
  };
  std::vector<double> out;
  out.reserve(static_cast<std::size_t>(sets * sets));
  for (std::int64_t a = 0; a < sets; ++a) {
    for (std::int64_t b = 0; b < sets; ++b) out.push_back(hsic(a, b) / (root(a) * root(b)));
  }
  return out;
}

Spectrum spectrum_of(const at::Tensor& scatter) {
  const at::Tensor host = scatter.cpu();
  if (!at::isfinite(host).all().item<bool>()) return {};  // LAPACK may not return from these
  const at::Tensor squares = at::linalg_eigvalsh(host).contiguous();  // ascending
  const auto k = static_cast<std::size_t>(squares.size(0));
  const std::span<const double> all(squares.const_data_ptr<double>(), k);
  const double floor = static_cast<double>(k) * std::numeric_limits<double>::epsilon() * all.back();
  if (!(all.back() > 0)) return {};

  double sum = 0, sum2 = 0, sum4 = 0;
  for (const double square : all) {
    if (square <= floor) continue;
    sum += std::sqrt(square);
    sum2 += square;
    sum4 += square * square;
  }
  double entropy = 0;
  for (const double square : all) {
    if (square <= floor) continue;
    const double p = std::sqrt(square) / sum;
    entropy -= p * std::log(p);
  }
  return {.effective_rank = std::exp(entropy), .participation_ratio = sum2 * sum2 / sum4};
}

void StoredStates::add(const at::Tensor& x) {
  device_ = x.device();
  blocks_.push_back(x.to(at::kFloat).cpu());
}

at::Tensor StoredStates::states_of(std::int64_t depth) const {
  std::vector<at::Tensor> parts;
  for (const at::Tensor& block : blocks_) parts.push_back(block[depth]);
  return at::cat(parts).to(device_).to(at::kDouble);
}

at::Tensor StoredStates::scatters() const {
  std::vector<at::Tensor> out;
  for (std::int64_t a = 0; a < blocks_[0].size(0); ++a) {
    FeatureMoments one(/*pairs=*/false);
    one.add(states_of(a).unsqueeze(0));
    out.push_back(one.scatters()[0]);
  }
  return at::stack(out);
}

GramSums StoredStates::gram_sums() const {
  const std::int64_t depths = blocks_[0].size(0);
  GramSums out{.trace = at::empty({depths, depths}, at::kDouble),
               .cross = at::empty({depths, depths}, at::kDouble),
               .total = at::empty({depths}, at::kDouble)};
  for (std::int64_t a = 0; a < depths; ++a) {
    const at::Tensor x = states_of(a);
    for (std::int64_t b = a; b < depths; ++b) {
      FeatureMoments pair(/*pairs=*/true);
      pair.add(at::stack({x, states_of(b)}));
      const GramSums sums = pair.gram_sums();
      for (const auto& [all, of_pair] :
           {std::pair{out.trace, sums.trace}, {out.cross, sums.cross}}) {
        all[a][b] = of_pair[0][1];
        all[b][a] = of_pair[0][1];
      }
      if (a == b) out.total[a] = sums.total[0];
    }
  }
  return out;
}

}  // namespace depthgrid
