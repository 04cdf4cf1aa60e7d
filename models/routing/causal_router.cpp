#include "models/routing/causal_router.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>

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
                                at::Tensor* memory) const {
  const at::Tensor w = weight_.view({weight_.size(0), 2, o.width});
  at::Tensor logits;  // (E, B, T, 2) contributions to its own and the next token's logit
  if (o.tdt.router_norm && !at::GradMode::is_enabled()) {
    logits = normed_products(NormKind::Rms, x, w, o.norm_eps);
  } else {
    at::Tensor now = o.tdt.router_detach_input ? x.detach() : x;
    if (o.tdt.router_norm) now = per_cell_norm(NormKind::Rms, now, {}, {}, o.norm_eps);
    // A product with one column is summed in another order when cells are fused.
    logits = (now.unsqueeze(-2) * w.unsqueeze(1).unsqueeze(1)).sum(-1);
  }
  const at::Tensor of_next = logits.select(-1, 1);
  at::Tensor out = logits.select(-1, 0) + previous_tokens(of_next, memory ? *memory : at::Tensor());
  if (memory) *memory = of_next.narrow(2, of_next.size(2) - 1, 1);
  return bias_.defined() ? out + bias_.unsqueeze(-1) : out;
}

at::Tensor token_sum(const at::Tensor& x) {
  // In two stages: a single full reduction would be split among threads.
  return x.sum(-1, false, at::kDouble).sum(-1).to(x.scalar_type());
}

at::Tensor routing_loss(const at::Tensor& logits, const at::Tensor& target) {
  return token_sum(softplus(logits) - logits * target.to(logits.scalar_type()));
}

}  // namespace depthgrid
