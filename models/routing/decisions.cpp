#include "models/routing/decisions.hpp"

#include <cmath>
#include <string>

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>

#include "core/base/error.hpp"
#include "core/cells/cell_rng.hpp"
#include "core/cells/cell_set.hpp"
#include "core/cells/queued_tensor.hpp"
#include "models/routing/top_k.hpp"

namespace depthgrid {
namespace {

/// logit(τ) of the fixed threshold. (E)
at::Tensor fixed_threshold(const RoutingOptions& o, const at::Tensor& like) {
  std::vector<double> logits;
  for (const double p : o.threshold) logits.push_back(std::log(p / (1 - p)));
  return queued_tensor(logits, like.options().requires_grad(false));
}

}  // namespace

at::Tensor above(const at::Tensor& score, const at::Tensor& threshold) {
  return score.gt(per_cell(threshold.to(score.scalar_type()), score));
}

at::Tensor student_mask(const RoutingOptions& o, const Execution& execution,
                        const at::Tensor& logits, std::int64_t dynamic, const at::Tensor& earlier) {
  const Decider decider = execution.decider.value_or(o.decider);
  if (decider == Decider::RunningTopk) return running_top_k_mask(o, logits, earlier);
  const bool calibrated = decider == Decider::Calibrated && execution.thresholds.defined();
  return above(logits,
               calibrated ? execution.thresholds.select(1, dynamic) : fixed_threshold(o, logits));
}

at::Tensor random_mask(const RoutingOptions& o, const at::Tensor& like, std::int64_t layer,
                       std::int64_t first_row) {
  const at::TensorOptions plain = like.options().dtype(at::kFloat).requires_grad(false);
  const at::Tensor draw = at::empty(like.sizes(), plain);
  // The same draws for all cells, so that these are compared on the same tokens.
  fill_uniform(draw, std::vector<std::uint64_t>(o.capacity.size(), 0),
               {.stream = stream_id("routing/random/" + std::to_string(layer)),
                .step = 0,
                .first_row = first_row});
  return draw.lt(per_cell(queued_tensor(o.capacity, plain), draw));
}

at::Tensor forced_mask(const Execution& execution, const at::Tensor& like, std::int64_t layer) {
  const at::Tensor& all = execution.forced;
  const bool fits = all.defined() && all.dim() == 4 && layer < all.size(3) &&
                    all.size(0) == like.size(0) && all.size(1) == like.size(1) &&
                    all.size(2) == like.size(2);
  if (!fits) {
    throw ShapeError("forced masks must be (cells, sequences, tokens, layers), one for each layer");
  }
  return all.select(3, layer).to(like.device(), at::kBool);
}

at::Tensor with_first(const RoutingOptions& o, const at::Tensor& mask) {
  if (!o.always_first) return mask;
  const at::Tensor position =
      at::arange(mask.size(-1), mask.options().dtype(at::kLong).requires_grad(false));
  return mask.logical_or(position.eq(0));
}

}  // namespace depthgrid
