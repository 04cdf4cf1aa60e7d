#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "core/base/nan.hpp"
#include "worker/audit/audit_checks.hpp"
#include "worker/audit/gradient_probe.hpp"
#include "worker/audit/suffix_probe.hpp"

namespace depthgrid {
namespace {

constexpr std::int64_t kFewCuts = 8;
constexpr std::int64_t kCutsAlone = 3;
constexpr std::int64_t kShortWindow = 24;     // of modes that only evaluation offers, on the twin
constexpr double kModeFlops = 6e11;           // of a mode at size: as many cuts as this allows
constexpr double kWideTolerance = 1e-12;      // of a number in float64, relative to the largest
constexpr double kGradientTolerance = 1e-10;  // of a gradient in float64, likewise
// A leak may begin late: draws and schedules depend on the step.
constexpr std::int64_t kFirstStep = 1, kLateStep = 4001, kLatestStep = 100003;

/// What the probes of one check have found.
struct Search {
  double worst = 0;
  std::string leak;          // first one
  bool moved = true;         // in every pass some logit depended on the tokens
  std::string undecided;     // a mode in which no token was skipped, or every one
  std::int64_t looks = 0;    // modes
  std::int64_t at_size = 0;  // most cuts of a mode
};

bool of_training(const AuditedMode& mode) {
  return mode.context.training || mode.name == "evaluation";
}

void look(Search& search, const AuditModel& model, const AuditedMode& mode, std::int64_t tokens,
          std::int64_t step, const SuffixPlan& plan, const std::string& where) {
  ForwardContext context = mode.context;
  context.step = step;
  const SuffixEffect effect = change_suffixes(model, tokens, context, plan, !mode.causal);
  search.moved = search.moved && effect.after;
  if (steered(mode) && effect.least <= effect.most && (effect.most <= 0 || effect.least >= 1)) {
    search.undecided = mode.name + ": its layers execute every token, or none";
  }
  if (effect.same) return;
  search.worst = std::isnan(effect.before) ? kNaN : std::max(search.worst, effect.before);
  if (!search.leak.empty()) return;
  search.leak =
      fmt::format("{}{}: changing the tokens from {} on changes {} before them", mode.name,
                  mode.causal ? "" : " with its masks held", effect.cut, effect.what);
  if (effect.cell > 0) search.leak += fmt::format(" in cell {}", effect.cell);
  search.leak += where;
}

/// The structure itself: as many cuts as the time allows, in its training arithmetic.
void look_at_size(Search& search, AuditRoom& room, bool causal) {
  const std::int64_t tokens = room.tokens();
  AuditModel& several = *room.several();
  AuditModel& full = *room.full();
  const auto afford = static_cast<std::int64_t>(kModeFlops / (2 * room.row_flops()));
  const std::int64_t rows = room.most_rows(several.options(), tokens);
  for (const AuditedMode& mode : steered_modes(several, tokens)) {
    if (mode.causal != causal) continue;
    const std::int64_t most = of_training(mode) ? std::max(kFewCuts, afford) : kFewCuts;
    const std::vector<std::int64_t> cuts = some_cuts(tokens, most);
    search.at_size = std::max(search.at_size, static_cast<std::int64_t>(cuts.size()));
    look(search, several, mode, tokens, kLatestStep, {.cuts = cuts, .dealt = true, .rows = rows},
         "");
  }
  for (const AuditedMode& mode : steered_modes(full, tokens)) {
    if (mode.causal != causal || !of_training(mode)) continue;
    look(search, full, mode, tokens, kFirstStep, {.cuts = some_cuts(tokens, kCutsAlone), .rows = 1},
         ", in a sequence alone");
  }
}

/// A twin: every position is a cut in every cell.
void look_at_twin(Search& search, AuditRoom& room, bool causal, TwinSize size,
                  Arithmetic arithmetic) {
  const bool wide = arithmetic == Arithmetic::Float64;
  size.tokens = std::min(room.tokens(), size.tokens);
  const AuditModel model = room.twin(size, room.cells(), arithmetic);
  const std::string where = wide ? " (of the twin, in float64)" : " (of the twin)";
  for (const AuditedMode& mode : steered_modes(model, size.tokens)) {
    if (mode.causal != causal) continue;
    ++search.looks;
    const std::int64_t tokens =
        of_training(mode) ? size.tokens : std::min(size.tokens, kShortWindow);
    const SuffixPlan plan{.cuts = all_cuts(tokens),
                          .rows = room.most_rows(model.options(), tokens),
                          .tolerance = wide ? kWideTolerance : 0};
    look(search, model, mode, tokens, kLateStep, plan, where);
    if (mode.context.training && !wide) look(search, model, mode, tokens, kFirstStep, plan, where);
  }
}

void look_at_gradients(Search& search, const AuditRoom& room, bool held) {
  const GradientEffect effect = change_gradients(room, held);
  search.moved = search.moved && effect.reached;
  if (effect.change <= kGradientTolerance) return;
  search.worst = std::isnan(effect.change) ? kNaN : std::max(search.worst, effect.change);
  if (!search.leak.empty()) return;
  search.leak = fmt::format(
      "training: changing the tokens from {} on changes the gradient of earlier logits by {}",
      effect.cut, effect.parameter);
}

/// All modes that are declared causal, or all that are not.
Search search_for_leaks(AuditRoom& room, bool causal, bool trains) {
  Search search;
  if (room.full() != nullptr) look_at_size(search, room, causal);
  look_at_twin(search, room, causal, kLongTwin, Arithmetic::Float32);
  if (room.subject().mixed) look_at_twin(search, room, causal, kWideTwin, Arithmetic::Mixed);
  search.looks = 0;
  look_at_twin(search, room, causal, kWideTwin, Arithmetic::Float64);
  if (trains) look_at_gradients(search, room, !causal);
  return search;
}

AuditResult verdict_of(AuditRoom& room, const Search& search, const std::string& note) {
  if (!search.leak.empty()) return judged(false, search.worst, 0, search.leak);
  if (!search.moved) {
    return {"", AuditVerdict::Undecided, 0, 0, "no logit depends on the tokens at all"};
  }
  if (!search.undecided.empty()) return {"", AuditVerdict::Undecided, 0, 0, search.undecided};
  if (room.full() != nullptr) return judged(true, 0, 0, note);
  return {"", AuditVerdict::Skipped, kNaN, 0, room.too_large() + "; its twin passes"};
}

}  // namespace

AuditResult check_causality(AuditRoom& room) {
  if (room.tokens() < 2) return {"", AuditVerdict::Skipped, kNaN, 0, "a window of one token"};
  const AuditModel declared = room.twin(kGradientTwin, {0});
  const std::vector<AuditedMode> modes = audited_modes(declared.model().family());
  const bool trains = modes.front().causal;
  const Search search = search_for_leaks(room, true, trains);
  return verdict_of(
      room, search,
      fmt::format("{} modes, {} cuts in {} cells of {} tokens; every cut of twins of {}",
                  search.looks, search.at_size,
                  room.full() == nullptr ? 0 : room.several()->options().cells, room.tokens(),
                  std::min(room.tokens(), kLongTwin.tokens)));
}

AuditResult check_declaration(AuditRoom& room) {
  const AuditModel asked = room.twin(kGradientTwin, {0});
  std::string declared;
  bool trains = false;
  for (const AuditedMode& mode : audited_modes(asked.model().family())) {
    if (mode.causal) continue;
    trains = trains || mode.context.training;
    if (mode.name == "evaluation") {
      return judged(false, kNaN, 0,
                    "evaluation looks ahead: its losses are not those of predictions");
    }
    if (room.tokens() < 2) return {"", AuditVerdict::Skipped, kNaN, 0, "a window of one token"};
    if (mode.reason.empty())
      return judged(false, 0, 0, mode.name + " looks ahead without a reason");
    const at::Tensor text = audit_tokens(asked.options().vocabulary, {1, 2, 2}, 5);
    if (!with_held_masks(asked, text, mode.context)) {
      return judged(false, 0, 0, mode.name + " looks ahead, but no layer has recorded a mask");
    }
    declared += (declared.empty() ? "" : "; ") + mode.name + ": " + mode.reason;
  }
  if (declared.empty()) return judged(true, 0, 0, "every mode is causal");
  return verdict_of(room, search_for_leaks(room, false, trains), declared);
}

}  // namespace depthgrid
