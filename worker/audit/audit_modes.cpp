#include "worker/audit/audit_modes.hpp"

#include <utility>

#include <ATen/TensorOperators.h>

#include "models/routing/calibration.hpp"

namespace depthgrid {
namespace {

constexpr double kHalf = 0.5;
constexpr std::int64_t kSteeringRows = 8;
/// A token at the threshold, repeated elsewhere, must not be on either side of it by rounding.
constexpr double kBeyondTies = 1e-7;

}  // namespace

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

std::vector<AuditedMode> steered_modes(const AuditModel& model, std::int64_t tokens) {
  std::vector<AuditedMode> modes = audited_modes(model.model().family());
  if (model.options().routing.layers.empty()) return modes;
  const at::Tensor text = audit_tokens(model.options().vocabulary, {kSteeringRows, tokens}, 3);
  for (AuditedMode& mode : modes) {
    std::optional<Execution>& execution = mode.context.execution;
    if (!execution) continue;
    const bool calibrated = execution->decider == Decider::Calibrated;
    const bool teacher = execution->mode == ExecutionMode::TeacherThreshold;
    if (!calibrated && !teacher) continue;
    const at::Tensor edge = calibrated_thresholds(model.model(), {text}, *execution, kHalf);
    execution->thresholds = teacher ? edge + edge.abs().clamp_min(1) * kBeyondTies : edge;
  }
  return modes;
}

bool steered(const AuditedMode& mode) {
  return mode.context.execution && mode.context.execution->thresholds.defined();
}

std::optional<ForwardContext> with_held_masks(const AuditModel& model, const at::Tensor& tokens,
                                              const ForwardContext& context) {
  RoutingRecord record;
  ForwardContext held = context;
  held.routing = &record;
  model.logits(tokens, held);
  if (record.layers.empty()) return std::nullopt;
  held.routing = context.routing;
  held.execution = Execution{.mode = ExecutionMode::Forced,
                             .forced = executed_masks(record, tokens, model.options().layers)};
  return held;
}

}  // namespace depthgrid
