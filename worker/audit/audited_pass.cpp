#include "worker/audit/audited_pass.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include <ATen/TensorOperators.h>

namespace depthgrid {
namespace {

/// Integers that are equal where all bits are.
at::Tensor bits_of(const at::Tensor& x) {
  if (x.scalar_type() == at::kDouble) return x.contiguous().view(at::kLong);
  return x.to(at::kFloat).contiguous().view(at::kInt);
}

}  // namespace

AuditedPass audited_pass(const AuditModel& model, const at::Tensor& tokens, ForwardContext context,
                         bool recorded) {
  AuditedPass pass;
  pass.record.teach = true;
  if (recorded) context.routing = &pass.record;
  pass.logits = context.training ? model.recorded_logits(tokens, std::move(context)).detach()
                                 : model.logits(tokens, std::move(context));
  return pass;
}

std::vector<PassQuantity> quantities_of(const AuditedPass& pass, bool decisions) {
  std::vector<PassQuantity> out = {{"a logit", pass.logits}};
  for (const LayerRouting& layer : pass.record.layers) {
    const auto add = [&](const char* name, const at::Tensor& values) {
      if (!values.defined()) return;
      out.push_back({fmt::format("{} of layer {}", name, layer.layer), values.detach()});
    };
    if (decisions) add("the decision", layer.executed.to(at::kFloat));
    add("the router's logit", layer.logits);
    add("the score", layer.score);
    add("the gate", layer.execution_gate.defined() ? layer.execution_gate : layer.signals.gate);
    add("static surprise", layer.signals.d_st);
    add("change surprise", layer.signals.d_ch);
    add("the average of surprise", layer.signals.ma);
    add("the residual", layer.residual);
    add("the predicted residual", layer.predicted);
  }
  return out;
}

at::Tensor changed_tokens(const at::Tensor& a, const at::Tensor& b, double tolerance) {
  at::Tensor differs = bits_of(a).ne(bits_of(b));
  if (tolerance > 0) {
    const double scale = std::max(1.0, a.abs().max().item<double>());
    differs = differs.logical_and((a - b).abs().le(tolerance * scale).logical_not());
  }
  return differs.dim() > 3 ? differs.flatten(3).any(3) : differs;
}

std::int64_t audited_step(std::size_t pass) {
  static constexpr std::array<std::int64_t, 10> kPassSteps = {4002, 1,    65537, 2,      2147483647,
                                                              333,  1000, 40,    100003, 7};
  return kPassSteps[pass % kPassSteps.size()];
}

}  // namespace depthgrid
