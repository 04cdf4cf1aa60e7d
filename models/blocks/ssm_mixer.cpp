#include "models/blocks/ssm_mixer.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/bmm.h>

#include "models/ops/lti_scan.hpp"
#include "models/ops/zero_order_hold.hpp"

namespace depthgrid {

namespace {

/// Splits tensors over all nodes into one system per node.
std::vector<SsmSystem> spread(const at::Tensor& transition, const at::Tensor& input,
                              const at::Tensor& output, const at::Tensor& skip) {
  const std::vector<at::Tensor> a = transition.unbind(1), b = input.unbind(1), c = output.unbind(1);
  std::vector<at::Tensor> d;
  if (skip.defined()) d = skip.unbind(1);
  std::vector<SsmSystem> systems;
  for (std::size_t i = 0; i < a.size(); ++i) {
    SsmSystem s{a[i].contiguous(), {b[i], {}}, {c[i], {}}, {}, {}};
    if (!d.empty()) (d[i].dim() == 2 ? s.diagonal_skip : s.skip.weight) = d[i];
    systems.push_back(std::move(s));
  }
  return systems;
}

}  // namespace

std::vector<SsmSystem> discretise(Discretisation rule, const SsmAtNodes& nodes) {
  if (rule == Discretisation::None) return spread(nodes.a, nodes.b, nodes.c, nodes.d);
  const bool dense = nodes.a.dim() == 4;
  const at::Tensor z = nodes.a * (dense ? nodes.delta.unsqueeze(3) : nodes.delta);
  const Hold hold = dense ? matrix_zero_order_hold(z) : zero_order_hold(z);
  const at::ScalarType type = nodes.b.scalar_type();
  const bool exact = rule == Discretisation::Zoh;
  if (!dense || !exact) {
    const at::Tensor weight = exact ? nodes.delta * hold.response : nodes.delta;
    return spread(hold.transition, nodes.b * weight.unsqueeze(3).to(type), nodes.c, nodes.d);
  }
  const at::Tensor b = nodes.b.to(z.scalar_type()) * nodes.delta.unsqueeze(3);
  const at::Tensor input =
      at::bmm(hold.response.flatten(0, 1), b.flatten(0, 1)).view(b.sizes()).to(type);
  return spread(hold.transition, input, nodes.c, nodes.d);
}

at::Tensor mix(const SsmSystem& system, const at::Tensor& x, at::Tensor* state, at::Tensor* every) {
  const at::Tensor& a = system.transition;
  at::Tensor driven = apply(system.input, x).to(a.scalar_type());
  if (state != nullptr && state->defined()) {  // the earlier state acts as input to the first token
    driven = driven.clone();
    driven.select(2, 0).add_(a.dim() == 2 ? *state * a.unsqueeze(1)
                                          : at::bmm(*state, a.transpose(1, 2)));
  }
  const at::Tensor hidden = lti_scan(a, driven);
  if (state != nullptr) *state = hidden.select(2, hidden.size(2) - 1).clone();
  if (every != nullptr) *every = hidden;
  at::Tensor y = apply(system.output, hidden).to(x.scalar_type());
  if (system.skip.weight.defined()) y = y + apply(system.skip, x).to(x.scalar_type());
  if (system.diagonal_skip.defined()) {
    // Rows flattened, so that the gradient of D is a sum over one dimension.
    const at::Tensor rows = x.flatten(1, 2) * system.diagonal_skip.unsqueeze(1);
    y = y + rows.view(x.sizes());
  }
  return y;
}

}  // namespace depthgrid
