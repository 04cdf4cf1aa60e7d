#include "worker/inspect/inspect_pass.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <ATen/TensorOperators.h>
#include <ATen/ops/ones.h>

#include "core/base/error.hpp"
#include "models/calibration.hpp"
#include "models/ops/cell_cross_entropy.hpp"
#include "worker/inspect/inspect_model.hpp"

namespace depthgrid {
namespace {

template <typename Words>
[[noreturn]] void refuse(const Model& model, const char* what, std::string_view word,
                         const Words& known) {
  throw UserError(ExitCode::Usage, fmt::format("check: {} '{}': family {} has {}", what, word,
                                               model.options().family, fmt::join(known, ", ")));
}

/// The mode named by a case, or the family's default evaluation.
ExecutionMode mode_of(const Model& model, const CheckCase& c) {
  const RoutingOptions& routing = model.options().routing;
  if (!c.mode) return c.masks.defined() ? ExecutionMode::Forced : routing.own_mode();
  std::vector<std::string_view> known;
  for (const DeclaredMode& m : model.family().modes()) {
    if (std::ranges::find(known, name_of(m.mode)) == known.end()) known.push_back(name_of(m.mode));
  }
  if (!routing.layers.empty()) known.push_back(name_of(ExecutionMode::Forced));
  known.push_back(kTrainingMode);
  if (std::ranges::find(known, *c.mode) == known.end()) refuse(model, "mode", *c.mode, known);
  return static_cast<ExecutionMode>(label_index(kExecutionModeNames, *c.mode));
}

void require_decider(const Model& model, const CheckCase& c, ExecutionMode mode) {
  if (!c.decider || *c.decider == Decider::Forced) return;
  std::vector<std::string_view> known;
  for (const DeclaredMode& m : model.family().modes()) {
    if (m.decider) known.push_back(name_of(*m.decider));
  }
  if (mode == ExecutionMode::TeacherThreshold) {
    known = {name_of(Decider::Threshold), name_of(Decider::Calibrated)};
  } else if (mode != ExecutionMode::Student) {
    throw UserError(ExitCode::Usage, fmt::format("check: decider '{}': mode {} decides nothing",
                                                 name_of(*c.decider), name_of(mode)));
  }
  if (std::ranges::find(known, name_of(*c.decider)) == known.end()) {
    known.push_back(name_of(Decider::Forced));
    refuse(model, "decider", name_of(*c.decider), known);
  }
}

/// Masks (1, B, T, L) from those of the dynamic layers (D, B, T), or from one value for all.
at::Tensor masks_of(const ModelOptions& o, const CheckCase& c, const at::Tensor& tokens) {
  const std::vector<std::int64_t>& layers = o.routing.layers;
  const std::vector<std::int64_t> want = {static_cast<std::int64_t>(layers.size()), tokens.size(1),
                                          tokens.size(2)};
  if (!c.masks.defined() || (c.masks.dim() != 0 && c.masks.sizes() != at::IntArrayRef(want))) {
    throw UserError(ExitCode::BadData,
                    fmt::format("check: masks: expected true, false, or [{}]: dynamic layers, "
                                "sequences, tokens",
                                fmt::join(want, ", ")));
  }
  const at::Tensor given = c.masks.expand(want);
  const at::Tensor out = at::ones({1, want[1], want[2], o.layers}, at::kBool);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    out.select(3, layers[i]).select(0, 0).copy_(given[static_cast<std::int64_t>(i)]);
  }
  return out;
}

}  // namespace

CheckExecution inspect_execution(const CheckModel& m, const CheckCase& c,
                                 const at::Tensor& tokens) {
  const Model& model = m.model;
  const ModelOptions& o = model.options();
  if (c.mode == kTrainingMode) {
    CheckExecution out{.training = true, .causal = model.family().training_mode().causal};
    if (!c.masks.defined()) return out;
    out.execution = Execution{.mode = ExecutionMode::Forced, .forced = masks_of(o, c, tokens)};
    out.causal = true;
    return out;
  }
  ExecutionMode mode = mode_of(model, c);
  require_decider(model, c, mode);
  if (c.decider == Decider::Forced) mode = ExecutionMode::Forced;
  CheckExecution out{.execution = Execution{.mode = mode, .decider = c.decider}};
  Execution& e = *out.execution;
  out.causal = mode != ExecutionMode::TeacherTopk;
  if (mode == ExecutionMode::Forced) {
    e.decider = {};
    e.forced = masks_of(o, c, tokens);
    return out;
  }
  if (c.masks.defined()) {
    throw UserError(ExitCode::Usage, "check: masks: they go with mode forced, or training");
  }
  const bool decides = mode == ExecutionMode::Student || mode == ExecutionMode::TeacherThreshold;
  if (mode == ExecutionMode::Student && !e.decider) e.decider = o.routing.decider;
  const bool calibrated = decides && e.decider == Decider::Calibrated;
  if (c.thresholds.defined()) {
    const auto layers = static_cast<std::int64_t>(o.routing.layers.size());
    if (!calibrated || c.thresholds.size(0) != layers) {
      throw UserError(ExitCode::BadData,
                      fmt::format("check: thresholds: they go with decider calibrated, one for "
                                  "each of the {} dynamic layers",
                                  layers));
    }
    e.thresholds = c.thresholds.unsqueeze(0);
  } else if (calibrated) {
    e.thresholds = calibrated_thresholds(model, {tokens[0]}, e);
  }
  return out;
}

std::vector<std::pair<const char*, at::Tensor>> named_signals(const GateSignals& s) {
  return {{"D_st", s.d_st}, {"D_ch", s.d_ch}, {"MA", s.ma},     {"CE", s.ce},
          {"CU", s.cu},     {"S_CE", s.s_ce}, {"S_CU", s.s_cu}, {"g", s.gate}};
}

CheckReport scalars_report(const GateScalars& s) {
  CheckReport out;
  out.add("o_ce", s.o_ce.item<double>())
      .add("m_cu", s.m_cu.item<double>())
      .add("beta_ce", s.beta_ce.item<double>())
      .add("beta_cu", s.beta_cu.item<double>());
  return out;
}

CheckReport pass_report(const CheckSubject& subject, const CheckCase& c, const CheckExecution& e,
                        const at::Tensor& tokens, const at::Tensor& logits) {
  CheckReport::Value decider, loss;
  if (!e.training && e.execution->decider) decider = std::string(name_of(*e.execution->decider));
  if (const std::int64_t last = tokens.size(2) - 1; last > 0) {
    const at::Tensor losses = token_losses(logits.narrow(2, 0, last), tokens.narrow(2, 1, last));
    loss = losses.to(at::kDouble).mean().item<double>();
  }
  CheckReport out;
  out.add("cell", subject.alias())
      .add("dtype", std::string(name_of(c.dtype)))
      .add("mode", std::string(e.training ? kTrainingMode : name_of(e.execution->mode)))
      .add("decider", decider)
      .add("causal", e.causal)
      .add("rows", tokens.size(1))
      .add("length", tokens.size(2))
      .add("loss", loss);
  if (e.execution && e.execution->thresholds.defined()) {
    out.add("thresholds", e.execution->thresholds[0]);
  }
  return out;
}

}  // namespace depthgrid
