#include "worker/audit/audited_mode.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/ones.h>

#include "models/routing/routing_record.hpp"

namespace depthgrid {

std::vector<AuditedMode> audited_modes(const Family& family) {
  const DeclaredMode training = family.training_mode();
  const std::vector<DeclaredMode> modes = family.modes();
  std::vector<AuditedMode> out = {{.name = "training",
                                   .context = {.training = true},
                                   .causal = training.causal,
                                   .reason = std::string(training.reason)},
                                  {.name = "evaluation", .context = {}}};
  if (modes.size() == 1) {
    out.back().causal = modes.front().causal;
    out.back().reason = modes.front().reason;
    return out;
  }
  for (const DeclaredMode& m : modes) {
    ForwardContext context;
    context.execution = Execution{.mode = m.mode, .decider = m.decider};
    out.push_back({std::string(m.name), context, m.causal, std::string(m.reason)});
  }
  return out;
}

std::optional<ForwardContext> with_held_masks(const AuditModel& model, const at::Tensor& tokens,
                                              const ForwardContext& context) {
  RoutingRecord record;
  ForwardContext asking = context;
  asking.routing = &record;
  model.logits(tokens, asking);
  if (record.layers.empty()) return std::nullopt;
  std::vector<std::int64_t> sizes = tokens.sizes().vec();
  sizes.push_back(model.options().layers);
  const at::Tensor masks = at::ones(sizes, at::kBool);
  for (const LayerRouting& layer : record.layers) {
    masks.select(3, layer.layer).copy_(layer.executed);
  }
  ForwardContext held = context;
  held.execution = Execution{.mode = ExecutionMode::Forced, .forced = masks};
  return held;
}

}  // namespace depthgrid
