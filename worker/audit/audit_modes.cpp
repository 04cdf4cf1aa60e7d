#include "worker/audit/audit_modes.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>

#include "models/calibration.hpp"
#include "models/routing/execution_masks.hpp"

namespace depthgrid {
namespace {

constexpr double kHalf = 0.5;
constexpr std::int64_t kSteeringRows = 8;
/// A token at the threshold, repeated elsewhere, must not be on either side of it by rounding.
constexpr double kBeyondTies = 1e-7;
constexpr double kLeastThreshold = 1e-6;

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

void steer(const AuditModel& model, AuditedMode& mode, std::int64_t tokens, std::int64_t rows) {
  std::optional<Execution>& execution = mode.context.execution;
  if (!execution || model.options().routing.layers.empty()) return;
  const bool calibrated = execution->decider == Decider::Calibrated;
  const bool teacher = execution->mode == ExecutionMode::TeacherThreshold;
  if (!calibrated && !teacher) return;
  const at::Tensor text = audit_tokens(model.options().vocabulary, {rows, tokens}, 3);
  const at::Tensor edge = calibrated_thresholds(model.model(), {text}, *execution, kHalf);
  execution->thresholds = teacher ? edge + edge.abs().clamp_min(1) * kBeyondTies : edge;
}

std::vector<AuditedMode> steered_modes(const AuditModel& model, std::int64_t tokens) {
  std::vector<AuditedMode> modes = audited_modes(model.model().family());
  for (AuditedMode& mode : modes) steer(model, mode, tokens, kSteeringRows);
  return modes;
}

std::vector<double> middle_thresholds(const AuditModel& model, std::int64_t tokens) {
  const ModelOptions& o = model.options();
  std::vector<double> out = o.routing.threshold;
  const at::Tensor text = audit_tokens(o.vocabulary, {o.cells, kSteeringRows, tokens}, 4);
  for (const AuditedMode& mode : audited_modes(model.model().family())) {
    if (!mode.context.execution || mode.context.execution->decider != Decider::Threshold) continue;
    RoutingRecord record;
    ForwardContext context = mode.context;
    context.control = audit_control(o, text, 4);
    context.routing = &record;
    model.logits(text, context);
    std::vector<at::Tensor> logits;  // (E, n) each
    for (const LayerRouting& layer : record.layers) {
      if (layer.logits.defined()) logits.push_back(layer.logits.flatten(1).to(at::kDouble));
    }
    if (logits.empty()) continue;
    const at::Tensor middle = std::get<0>(at::cat(logits, 1).median(1));
    for (std::size_t e = 0; e < out.size(); ++e) {
      const double p = 1 / (1 + std::exp(-middle[static_cast<std::int64_t>(e)].item<double>()));
      out[e] = std::clamp(p, kLeastThreshold, 1 - kLeastThreshold);
    }
  }
  return out;
}

bool decides(const AuditedMode& mode) {
  const std::optional<Execution>& execution = mode.context.execution;
  return execution && (execution->mode == ExecutionMode::Student ||
                       execution->mode == ExecutionMode::TeacherThreshold);
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
