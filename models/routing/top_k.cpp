#include "models/routing/top_k.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/sort.h>
#include <ATen/ops/zeros_like.h>

#include "core/cells/queued_tensor.hpp"

namespace depthgrid {

std::vector<std::int64_t> capacities(const RoutingOptions& o, std::int64_t tokens) {
  std::vector<std::int64_t> k;
  for (std::size_t e = 0; e < o.capacity.size(); ++e) {
    k.push_back(capacity_of(o.capacity[e], tokens, o.min_k[e]));
  }
  return k;
}

at::Tensor top_k_mask(const at::Tensor& score, const std::vector<std::int64_t>& k) {
  const at::TensorOptions whole = score.options().dtype(at::kLong);
  const at::Tensor order = std::get<1>(at::sort(score, /*stable=*/true, -1, /*descending=*/true));
  const at::Tensor rank = at::empty_like(order).scatter_(
      -1, order, at::arange(score.size(-1), whole).expand(order.sizes()));
  return rank.lt(queued_tensor(k, whole).view({-1, 1, 1}));
}

at::Tensor tie_width(const at::Tensor& score) {
  return score.abs().clamp_min(1) * (score.scalar_type() == at::kDouble ? 1e-13 : 1e-5);
}

at::Tensor running_top_k_mask(const RoutingOptions& o, const at::Tensor& score,
                              const at::Tensor& earlier) {
  const std::int64_t tokens = score.size(-1), past = earlier.defined() ? earlier.size(-1) : 0;
  const at::TensorOptions whole = score.options().dtype(at::kLong);
  std::vector<std::int64_t> k;
  for (std::int64_t t = 1; t <= tokens; ++t) {
    for (const std::int64_t here : capacities(o, past + t)) k.push_back(here);
  }
  const at::Tensor allowed = queued_tensor(k, whole).view({tokens, 1, -1}).permute({2, 1, 0});
  const at::Tensor as_high = (score - tie_width(score)).unsqueeze(-1);  // (E, B, T, 1)
  at::Tensor above =
      past > 0 ? earlier.unsqueeze(-2).ge(as_high).sum(-1) : at::zeros_like(score, whole);
  if (tokens > 1) {
    const at::Tensor before = at::ones({tokens, tokens}, score.options().dtype(at::kBool)).tril(-1);
    above = above + score.unsqueeze(-2).ge(as_high).logical_and(before).sum(-1);
  }
  return above.lt(allowed);
}

at::Tensor previous_tokens(const at::Tensor& x, const at::Tensor& first) {
  const at::Tensor start = first.defined() ? first : at::zeros_like(x.narrow(2, 0, 1));
  return x.size(2) == 1 ? start : at::cat({start, x.narrow(2, 0, x.size(2) - 1)}, 2);
}

}  // namespace depthgrid
