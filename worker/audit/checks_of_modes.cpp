#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include <ATen/TensorOperators.h>

#include "core/base/nan.hpp"
#include "worker/audit/audit_checks.hpp"
#include "worker/audit/suffix_probe.hpp"

namespace depthgrid {
namespace {

constexpr std::size_t kCutsAlone = 3;

/// The same execution with the masks recorded in one pass over `tokens`: every layer executes
/// exactly the tokens that it executed there. Nothing if no layer has recorded a mask.
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

/// The problem with a mode that looks ahead; empty if none.
std::string problem_of(const AuditModel& model, const AuditedMode& mode, std::int64_t rows,
                       std::int64_t tokens, double& worst) {
  if (mode.reason.empty()) return mode.name + " looks ahead without a reason";
  const at::Tensor sequences = audit_tokens(model.options().vocabulary, {1, rows, tokens}, 5);
  const auto held = with_held_masks(model, sequences, mode.context);
  if (!held) return mode.name + " looks ahead, but no layer has recorded a mask";
  const SuffixEffect effect = change_suffixes(model, rows, tokens, *held);
  if (effect.same) return "";
  worst = std::isnan(effect.before) ? kNaN : std::max(worst, effect.before);
  return fmt::format(
      "{}: with its masks held, changing the tokens from {} on changes an earlier logit", mode.name,
      effect.cut);
}

constexpr double kRowTolerance = 1e-5;
constexpr std::int64_t kSequences = 3;

}  // namespace

AuditResult check_causality(AuditRoom& room) {
  AuditModel* model = room.full();
  if (model == nullptr) return {"", AuditVerdict::Skipped, kNaN, 0, room.too_large()};
  if (room.tokens() < 2) return {"", AuditVerdict::Skipped, kNaN, 0, "a window of one token"};
  double worst = 0;
  bool moved = true;
  std::string leaks;
  std::int64_t modes = 0;
  for (const AuditedMode& claim : audited_modes(model->model().family())) {
    if (!claim.causal) continue;
    ++modes;
    const SuffixEffect batch = change_suffixes(*model, room.rows(), room.tokens(), claim.context);
    SuffixEffect alone = batch;
    if (room.rows() > 1) {
      alone = change_suffixes(*model, 1, room.tokens(), claim.context, kCutsAlone);
    }
    moved = moved && batch.after && alone.after;
    for (const SuffixEffect* effect : std::array<const SuffixEffect*, 2>{&batch, &alone}) {
      if (effect->same) continue;
      worst = std::isnan(effect->before) ? kNaN : std::max(worst, effect->before);
      if (leaks.empty()) {
        leaks = fmt::format("{}: changing the tokens from {} on changes an earlier logit",
                            claim.name, effect->cut);
      }
    }
  }
  if (!leaks.empty()) return judged(false, worst, 0, leaks);
  if (!moved) {
    return {"", AuditVerdict::Undecided, 0, 0, "no logit depends on the tokens at all"};
  }
  return judged(true, 0, 0,
                fmt::format("{} modes, {} cut points in batches of {}, {} alone; {} tokens", modes,
                            cut_points(room.tokens()).size(), room.rows(),
                            std::min(kCutsAlone, cut_points(room.tokens()).size()), room.tokens()));
}

AuditResult check_declaration(AuditRoom& room) {
  AuditModel* model = room.full();
  if (model == nullptr) return {"", AuditVerdict::Skipped, kNaN, 0, room.too_large()};
  double worst = 0;
  std::string declared;
  for (const AuditedMode& mode : audited_modes(model->model().family())) {
    if (mode.causal) continue;
    if (mode.name == "evaluation") {
      return judged(false, kNaN, 0,
                    "evaluation looks ahead: its losses are not those of predictions");
    }
    if (room.tokens() < 2) return {"", AuditVerdict::Skipped, kNaN, 0, "a window of one token"};
    const std::string problem = problem_of(*model, mode, room.rows(), room.tokens(), worst);
    if (!problem.empty()) return judged(false, worst, 0, problem);
    declared += (declared.empty() ? "" : "; ") + mode.name + ": " + mode.reason;
  }
  return judged(true, 0, 0, declared.empty() ? "every mode is causal" : declared);
}

AuditResult check_batch_independence(AuditRoom& room) {
  AuditModel* model = room.full();
  if (model == nullptr) return {"", AuditVerdict::Skipped, kNaN, kRowTolerance, room.too_large()};
  const std::int64_t rows = std::min(kSequences, std::max<std::int64_t>(2, room.rows()));
  const at::Tensor tokens = audit_tokens(model->options().vocabulary, {1, rows, room.tokens()}, 23);
  double worst = 0;
  std::string where = fmt::format("{} sequences", rows);
  for (AuditedMode& claim : audited_modes(model->model().family())) {
    const at::Tensor together = model->logits(tokens, claim.context);
    const double scale = std::max(1.0, together.abs().max().item<double>());
    for (std::int64_t r = 0; r < rows; ++r) {
      claim.context.first_row = r;  // draws belong to its place in the batch
      const at::Tensor alone = model->logits(tokens.narrow(1, r, 1), claim.context);
      const double d = largest_difference(together.narrow(1, r, 1), alone) / scale;
      if (d > worst || std::isnan(d)) {
        worst = d;
        if (!(d <= kRowTolerance)) where = claim.name + ": a sequence depends on those beside it";
      }
    }
  }
  return judged(worst <= kRowTolerance, worst, kRowTolerance, where);
}

}  // namespace depthgrid
