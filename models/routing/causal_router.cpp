#include "models/routing/causal_router.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/tensor.h>

#include "models/blocks/block_parameters.hpp"
#include "models/ops/per_cell_norm.hpp"
#include "models/ops/softplus.hpp"
#include "models/routing/top_k.hpp"

namespace depthgrid {

CausalRouter::CausalRouter(ParameterSource& source, const ModelOptions& o,
                           const std::string& name) {
  weight_ = source.parameter({.name = name + ".weight",
                              .shape = {1, 2 * o.width},
                              .group = ParameterGroup::Router,
                              .init = xavier_init(2 * o.width, 1)});
  if (!o.tdt.router_bias) return;
  bias_ = source.parameter({.name = name + ".bias",
                            .shape = {1},
                            .group = ParameterGroup::Router,
                            .init = {.fill = o.tdt.router_bias_init}});
}

at::Tensor CausalRouter::logits(const ModelOptions& o, const at::Tensor& x,
                                const at::Tensor& before) const {
  const auto read = [&](const at::Tensor& state) {
    const at::Tensor seen = o.tdt.router_detach_input ? state.detach() : state;
    if (!o.tdt.router_norm) return seen;
    return per_cell_norm(NormKind::Rms, seen, {}, {}, at::tensor(o.norm_eps, at::kDouble));
  };
  const at::Tensor now = read(x);
  const at::Tensor then = previous_tokens(now, before.defined() ? read(before) : at::Tensor());
  // A product with one column is summed in another order when cells are fused.
  const at::Tensor w = weight_.unsqueeze(1);  // (E, 1, 1, 2C)
  at::Tensor out =
      (now * w.narrow(-1, 0, o.width)).sum(-1) + (then * w.narrow(-1, o.width, o.width)).sum(-1);
  return bias_.defined() ? out + bias_.unsqueeze(-1) : out;
}

at::Tensor token_sum(const at::Tensor& x) {
  // In two stages: one reduction to a single number would be split by threads.
  return x.sum(-1, false, at::kDouble).sum(-1).to(x.scalar_type());
}

at::Tensor routing_loss(const at::Tensor& logits, const at::Tensor& target) {
  return token_sum(softplus(logits) - logits * target.to(logits.scalar_type()));
}

}  // namespace depthgrid
