#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "core/base/nan.hpp"
#include "worker/audit/audit_checks.hpp"
#include "worker/audit/audited_mode.hpp"
#include "worker/audit/suffix_probe.hpp"

namespace depthgrid {
namespace {

constexpr std::size_t kCutsAlone = 3;

}  // namespace

AuditResult check_causality(AuditRoom& room) {
  AuditModel* model = room.full();
  if (model == nullptr) return unjudged(AuditVerdict::Skipped, kNaN, 0, room.too_large());
  if (room.tokens() < 2) return unjudged(AuditVerdict::Skipped, kNaN, 0, "a window of one token");
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
    return unjudged(AuditVerdict::Undecided, 0, 0, "no logit depends on the tokens at all");
  }
  return judged(true, 0, 0,
                fmt::format("{} modes, {} cut points in batches of {}, {} alone; {} tokens", modes,
                            cut_points(room.tokens()).size(), room.rows(),
                            std::min(kCutsAlone, cut_points(room.tokens()).size()), room.tokens()));
}

}  // namespace depthgrid
