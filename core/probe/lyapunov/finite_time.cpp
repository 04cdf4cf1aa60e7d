#include "core/probe/lyapunov/finite_time.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>
#include <ATen/ops/linalg_svd.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/zeros.h>

#include "core/base/error.hpp"
#include "core/base/nan.hpp"
#include "core/probe/lyapunov/directions.hpp"

namespace depthgrid {
namespace {

/// W = D Q of one sequence, as rows: Wᵀ = Uᵀ S V with orthonormal rows of U and of V.
struct SplitImage {
  at::Tensor stretch;   // (M) S, descending
  at::Tensor left;      // (M, N) U
  at::Tensor rotation;  // (M, M): V Q are the right singular vectors
};

SplitImage split_image(const at::Tensor& image) {
  const RowsQr qr = qr_of_rows(image);
  const auto [u, s, v] = at::linalg_svd(qr.r, /*full_matrices=*/false);
  return {s, at::matmul(u.t(), qr.q), v};
}

/// The iteration of all cells and sequences, each with its own end.
class SubspaceIteration {
 public:
  SubspaceIteration(const TangentMap& map, const SubspaceOptions& o)
      : map_(map),
        entries_(state_entries(map.sizes())),
        count_(std::min(o.exponents, entries_)),
        tolerance_(o.tolerance),
        complete_(o.exponents + o.oversampling >= entries_) {
    const std::int64_t cells = map.sizes()[0], batch = map.sizes()[1];
    const auto wide = at::TensorOptions(at::kDouble);
    result_ = {.log_stretch = at::full({cells, batch, o.exponents}, kNaN, wide),
               .error = at::full({cells, batch, o.exponents}, kNaN, wide),
               .bound = at::full({cells, batch, o.exponents}, kNaN, wide),
               .iterations = at::zeros({cells, batch}, at::kLong),
               .converged = at::zeros({cells, batch}, at::kBool),
               .log_det = at::full({cells, batch}, kNaN, wide),
               .all = {},
               .directions = at::full({cells, batch, o.exponents, entries_}, kNaN, wide)};
    left_ = at::zeros({cells, batch, count_, entries_}, wide);
    if (complete_) result_.all = at::full({cells, batch, entries_}, kNaN, wide);
    const std::int64_t width = std::min(o.exponents + o.oversampling, entries_);
    basis_ = normal_directions(map.sizes(), width, {o.seed, "lyapunov/basis", o.first_sequence});
    ended_.assign(static_cast<std::size_t>(cells * batch), false);
    for_each_left([&](std::int64_t e, std::int64_t b) { orthonormalise(e, b); });
  }

  /// s and the vectors of D Q. @return whether any map is left to improve
  bool measure() {
    const at::Tensor image =
        each_direction([&](const at::Tensor& v) { return map_.forward(v); }, map_.sizes(), basis_);
    for_each_left([&](std::int64_t e, std::int64_t b) { take(e, b, image[e][b]); });
    return std::ranges::find(ended_, false) != ended_.end();
  }

  /// Q <- qr(Dᵀ U)
  void improve() {
    basis_ = each_direction([&](const at::Tensor& w) { return map_.transposed(w); }, map_.sizes(),
                            basis_);
    for_each_left([&](std::int64_t e, std::int64_t b) { orthonormalise(e, b); });
  }

  /// The bound of each last iterate, by its residual.
  void bound() {
    const at::Tensor pulled = each_direction(
        [&](const at::Tensor& w) { return map_.transposed(w); }, map_.sizes(), left_);
    for (std::int64_t e = 0; e < map_.sizes()[0]; ++e) {
      for (std::int64_t b = 0; b < map_.sizes()[1]; ++b) {
        const at::Tensor s = result_.log_stretch[e][b].narrow(0, 0, count_).exp().unsqueeze(1);
        const at::Tensor v = result_.directions[e][b].narrow(0, 0, count_);
        const at::Tensor share = (pulled[e][b] - s * v).norm(2, {1}, true).div(s).squeeze(1);
        // log1p(-1) is -inf; from there on nothing is known. NaN stays NaN.
        result_.bound[e][b].narrow(0, 0, count_).copy_(share.clamp_max(1).neg().log1p() * -0.5);
      }
    }
  }

  Stretches& result() { return result_; }

 private:
  template <class Work>
  void for_each_left(const Work& work) {
    const std::int64_t batch = map_.sizes()[1];
    for (std::size_t i = 0; i < ended_.size(); ++i) {
      const auto at = static_cast<std::int64_t>(i);
      if (!ended_[i]) work(at / batch, at % batch);
    }
  }

  void end(std::int64_t e, std::int64_t b) {
    ended_[static_cast<std::size_t>(e * map_.sizes()[1] + b)] = true;
  }

  void orthonormalise(std::int64_t e, std::int64_t b) {
    const at::Tensor mine = basis_[e][b];
    if (!all_finite(mine)) return give_up(e, b);
    mine.copy_(qr_of_rows(mine).q);
  }

  void give_up(std::int64_t e, std::int64_t b) {
    basis_[e][b].zero_();
    result_.log_stretch[e][b].fill_(kNaN);
    result_.error[e][b].fill_(kNaN);
    result_.directions[e][b].fill_(kNaN);
    left_[e][b].zero_();
    end(e, b);
  }

  void take(std::int64_t e, std::int64_t b, const at::Tensor& image) {
    if (!all_finite(image)) return give_up(e, b);
    const SplitImage split = split_image(image);
    const at::Tensor logs = split.stretch.log(), stored = result_.log_stretch[e][b];
    const at::Tensor before = stored.narrow(0, 0, count_).clone();
    const at::Tensor change = complete_ ? at::zeros({count_}, logs.options())
                                        : (logs.narrow(0, 0, count_) - before).abs();
    stored.narrow(0, 0, count_).copy_(logs.narrow(0, 0, count_));
    result_.error[e][b].narrow(0, 0, count_).copy_(change);
    result_.directions[e][b]
        .narrow(0, 0, count_)
        .copy_(at::matmul(split.rotation, basis_[e][b]).narrow(0, 0, count_));
    left_[e][b].copy_(split.left.narrow(0, 0, count_));
    result_.iterations[e][b] += 1;
    if (complete_) {
      result_.log_det[e][b].copy_(logs.sum());
      result_.all[e][b].copy_(logs);
    }
    // The change of ln s_k is its relative change to first order; NaN at the first iteration.
    const double last = std::abs(std::expm1(change[count_ - 1].item<double>()));
    if (complete_ || last <= tolerance_) {
      result_.converged[e][b].fill_(true);
      basis_[e][b].zero_();
      return end(e, b);
    }
    basis_[e][b].copy_(split.left);  // what improve() transposes
  }

  const TangentMap& map_;
  std::int64_t entries_, count_;  // N and min(k, N)
  double tolerance_;
  bool complete_;
  Stretches result_;
  at::Tensor basis_;  // (E, B, M, N) Q, then U
  at::Tensor left_;   // (E, B, min(k, N), N) u_i of the last iterate
  std::vector<bool> ended_;
};

}  // namespace

Stretches largest_stretches(const TangentMap& map, const SubspaceOptions& o) {
  if (o.exponents < 1 || o.oversampling < 0 || o.iterations < 1) {
    throw Error("subspace iteration needs at least one exponent and one iteration");
  }
  SubspaceIteration iteration(map, o);
  for (std::int64_t i = 1; iteration.measure() && i < o.iterations; ++i) iteration.improve();
  iteration.bound();
  return std::move(iteration.result());
}

}  // namespace depthgrid
