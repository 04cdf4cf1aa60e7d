#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "worker/audit/audit_checks.hpp"
#include "worker/audit/suffix_probe.hpp"

namespace depthgrid {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// What is wrong with a mode that looks ahead; empty: nothing.
std::string problem_of(const AuditModel& model, const CausalClaim& claim, std::int64_t rows,
                       std::int64_t tokens, double& worst) {
  if (claim.reason.empty()) return claim.name + " looks ahead without a reason";
  RoutingMasks masks;
  ForwardContext context = claim.context;
  context.recorded = &masks;
  model.logits(audit_tokens(model.options().vocabulary, {1, rows, tokens}, 5), context);
  if (masks.empty()) return claim.name + " looks ahead, but no layer has recorded a mask";
  context.recorded = nullptr;
  context.forced = &masks;
  const SuffixEffect effect = change_suffixes(model, rows, tokens, context);
  if (effect.same) return "";
  worst = std::isnan(effect.before) ? kNaN : std::max(worst, effect.before);
  return fmt::format(
      "{}: with its masks held, changing the tokens from {} on changes an earlier logit",
      claim.name, effect.cut);
}

}  // namespace

AuditResult check_declaration(AuditRoom& room) {
  AuditModel* model = room.full();
  if (model == nullptr) return unjudged(AuditVerdict::Skipped, kNaN, 0, room.too_large());
  const std::vector<CausalClaim> claims = model->model().family().claims();
  for (const char* name : {"training", "evaluation"}) {
    const auto at = std::ranges::find(claims, name, &CausalClaim::name);
    if (at == claims.end()) {
      return judged(false, kNaN, 0, fmt::format("the family says nothing about {}", name));
    }
    if (at->name == "evaluation" && !at->causal) {
      return judged(false, kNaN, 0, "evaluation looks ahead: its losses are no predictions");
    }
  }
  double worst = 0;
  std::string declared;
  for (const CausalClaim& claim : claims) {
    if (claim.causal) continue;
    if (room.tokens() < 2) return unjudged(AuditVerdict::Skipped, kNaN, 0, "a window of one token");
    const std::string problem = problem_of(*model, claim, room.rows(), room.tokens(), worst);
    if (!problem.empty()) return judged(false, worst, 0, problem);
    declared += (declared.empty() ? "" : "; ") + claim.name + ": " + claim.reason;
  }
  return judged(true, 0, 0, declared.empty() ? "every mode is causal" : declared);
}

}  // namespace depthgrid
