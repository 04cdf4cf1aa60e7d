#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/base/nan.hpp"
#include "worker/audit/audit_checks.hpp"
#include "worker/audit/audited_mode.hpp"
#include "worker/audit/suffix_probe.hpp"

namespace depthgrid {
namespace {

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

}  // namespace

AuditResult check_declaration(AuditRoom& room) {
  AuditModel* model = room.full();
  if (model == nullptr) return unjudged(AuditVerdict::Skipped, kNaN, 0, room.too_large());
  double worst = 0;
  std::string declared;
  for (const AuditedMode& mode : audited_modes(model->model().family())) {
    if (mode.causal) continue;
    if (mode.name == "evaluation") {
      return judged(false, kNaN, 0, "evaluation looks ahead: its losses are no predictions");
    }
    if (room.tokens() < 2) return unjudged(AuditVerdict::Skipped, kNaN, 0, "a window of one token");
    const std::string problem = problem_of(*model, mode, room.rows(), room.tokens(), worst);
    if (!problem.empty()) return judged(false, worst, 0, problem);
    declared += (declared.empty() ? "" : "; ") + mode.name + ": " + mode.reason;
  }
  return judged(true, 0, 0, declared.empty() ? "every mode is causal" : declared);
}

}  // namespace depthgrid
