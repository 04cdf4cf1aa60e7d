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

constexpr std::int64_t kCutsAlone = 3;
constexpr std::int64_t kOtherCuts = 8;        // most of a mode that only evaluation offers, at size
constexpr std::int64_t kSteeringWindow = 16;  // at size
constexpr std::int64_t kShortWindow = 24;     // of modes that only evaluation offers, on the twin
constexpr std::int64_t kTwinPasses = 3;       // of a pass: each has another step
constexpr std::int64_t kGradientWindow = 32;  // at size
constexpr double kWideTolerance = 1e-12;      // of a number in float64, relative to the largest
constexpr double kGradientTolerance = 1e-10;  // of a gradient in float64, likewise
// Shares of the audit's operations at size, of causality or of declaration.
constexpr double kShareOfMain = 0.1;    // of training, and of the default evaluation
constexpr double kShareOfOthers = 0.2;  // of all other modes together
constexpr double kShareAlone = 0.02;    // of training or evaluation, in sequences alone

/// What the probes of one check have found.
struct Search {
  double worst = 0;
  std::string leak;            // first one
  bool moved = true;           // in every pass some logit depended on the tokens
  std::string undecided;       // a mode in which no token was skipped, or every one
  std::int64_t inspected = 0;  // modes
  std::int64_t at_size = 0;    // most cuts of a mode
  std::int64_t cells = 0;      // at size
  std::string left_out;        // modes that were not examined at size
  std::size_t turn = 0;
};

bool of_training(const AuditedMode& mode) {
  return mode.context.training || mode.name == "evaluation";
}

void inspect(Search& search, const AuditModel& model, const AuditedMode& mode, std::int64_t tokens,
             SuffixPlan plan, const std::string& where) {
  plan.turn = search.turn++;
  const SuffixEffect effect = change_suffixes(model, tokens, mode.context, plan, !mode.causal);
  search.moved = search.moved && effect.after;
  const bool known = steered(mode) || (decides(mode) && !where.empty());
  if (known && effect.least <= effect.most && (effect.most <= 0 || effect.least >= 1)) {
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

/// The structure itself: as many cuts as its share of the operations allows, in its training
/// arithmetic.
void inspect_size(Search& search, AuditModels& models, bool causal) {
  const std::int64_t tokens = models.tokens();
  AuditModel& several = *models.several();
  search.cells = several.options().cells;
  const std::int64_t rows = models.most_rows(several.options(), tokens);
  std::vector<AuditedMode> modes = audited_modes(several.model().family());
  const auto layers = static_cast<std::int64_t>(several.options().routing.layers.size());
  const std::int64_t window = std::min(tokens, kSteeringWindow);
  const auto others = static_cast<double>(std::max<std::ptrdiff_t>(
      1, std::ranges::count_if(
             modes, [&](const AuditedMode& m) { return m.causal == causal && !of_training(m); })));
  for (AuditedMode& mode : modes) {
    if (mode.causal != causal) continue;
    const bool main = of_training(mode);
    const std::int64_t steering =
        decides(mode) ? (layers * search.cells * window + tokens - 1) / tokens : 0;
    const std::int64_t afford =
        (models.affordable(main ? kShareOfMain : kShareOfOthers / others) - steering) / 2;
    if (!main && afford < search.cells) {
      search.left_out += (search.left_out.empty() ? "" : ", ") + mode.name;
      continue;
    }
    const std::vector<std::int64_t> cuts =
        some_cuts(tokens, std::max(search.cells, main ? afford : std::min(kOtherCuts, afford)));
    steer(several, mode, window, 1);
    search.at_size = std::max(search.at_size, static_cast<std::int64_t>(cuts.size()));
    inspect(search, several, mode, tokens, {.cuts = cuts, .dealt = true, .rows = rows}, "");
  }
  AuditModel& full = *models.full();
  const std::int64_t alone = std::min(kCutsAlone, models.affordable(kShareAlone) / 2);
  for (const AuditedMode& mode : audited_modes(full.model().family())) {
    if (mode.causal != causal || !of_training(mode) || alone < 1) continue;
    inspect(search, full, mode, tokens, {.cuts = some_cuts(tokens, alone), .rows = 1},
            ", in a sequence alone");
  }
}

/// A twin whose fixed thresholds make its layers choose.
AuditModel choosing_twin(const AuditModels& models, const TwinSize& size, Arithmetic arithmetic) {
  const std::vector<std::size_t> cells = models.cells();
  ModelOptions o = models.various(size, cells);
  if (!o.routing.layers.empty()) {
    o.routing.threshold = middle_thresholds(models.built(o, cells, {arithmetic, true}),
                                            std::min(models.tokens(), kShortWindow));
  }
  return models.built(std::move(o), cells, {arithmetic, true});
}

/// A twin: every position is a cut, in every cell where the window is short, else in one of them,
/// and in another one in the next pass.
void inspect_twin(Search& search, AuditModels& models, bool causal, TwinSize size,
                  Arithmetic arithmetic) {
  const bool wide = arithmetic == Arithmetic::Float64;
  size.tokens = std::min(models.tokens(), size.tokens);
  const AuditModel model = choosing_twin(models, size, arithmetic);
  const std::string where = wide ? " (of the twin, in float64)" : " (of the twin)";
  for (const AuditedMode& mode : steered_modes(model, size.tokens)) {
    if (mode.causal != causal) continue;
    ++search.inspected;
    const std::int64_t tokens =
        of_training(mode) ? size.tokens : std::min(size.tokens, kShortWindow);
    SuffixPlan plan{.cuts = all_cuts(tokens),
                    .dealt = tokens > kShortWindow,
                    .tolerance = wide ? kWideTolerance : 0};
    const auto count = static_cast<std::int64_t>(plan.cuts.size());
    const std::int64_t slots = plan.dealt ? count / model.options().cells + 1 : count;
    const std::int64_t passes = of_training(mode) ? kTwinPasses : 1;
    plan.rows = std::min(models.most_rows(model.options(), tokens), (slots + passes - 1) / passes);
    inspect(search, model, mode, tokens, plan, where);
  }
}

/// The first steps of a temporal dynamic transformer, in which nothing is routed: whatever training
/// declares, they are causal.
void inspect_dense_start(Search& search, const AuditModels& models) {
  const std::vector<std::int64_t>& steps = models.options().tdt.dense_steps;
  if (std::ranges::all_of(steps, [](std::int64_t n) { return n == 0; })) return;
  const AuditModel model =
      models.twin(kDeepTwin, models.cells(), {.moved = true, .dense_start = true});
  const std::int64_t tokens = std::min(models.tokens(), kDeepTwin.tokens);
  const AuditedMode mode{.name = "training in its dense start", .context = {.training = true}};
  inspect(search, model, mode, tokens, {.cuts = all_cuts(tokens), .rows = kDeepTwin.tokens},
          " (of the twin)");
}

void note_gradients(Search& search, const GradientEffect& effect, double tolerance,
                    const char* where) {
  search.moved = search.moved && effect.reached;
  if (effect.change <= tolerance) return;
  search.worst = std::isnan(effect.change) ? kNaN : std::max(search.worst, effect.change);
  if (!search.leak.empty()) return;
  search.leak = fmt::format(
      "training: changing the tokens from {} on changes the gradient of earlier logits by {}{}",
      effect.cut, effect.parameter, where);
}

void inspect_gradients(Search& search, AuditModels& models, bool held) {
  note_gradients(search, change_gradients(models, held), kGradientTolerance, " (of the twin)");
  AuditModel twin = models.twin(kLongTwin, models.cells());
  const std::int64_t tokens = std::min(models.tokens(), kLongTwin.tokens);
  const std::int64_t rows = std::min(models.most_rows(twin.options(), tokens),
                                     (tokens + twin.options().cells) / twin.options().cells);
  note_gradients(search,
                 gradients_by_late_tokens(twin, tokens, rows, audited_step(search.turn++), held), 0,
                 " (of the twin)");
  if (AuditModel* model = models.several()) {
    const std::int64_t window = std::min(models.tokens(), kGradientWindow);
    note_gradients(search,
                   gradients_by_late_tokens(*model, window, 1, audited_step(search.turn++), held),
                   0, "");
  }
}

/// All modes that are declared causal, or all that are not.
Search search_for_leaks(AuditModels& models, bool causal, bool trains) {
  Search search;
  if (models.full() != nullptr) inspect_size(search, models, causal);
  inspect_twin(search, models, causal, kLongTwin, Arithmetic::Float32);
  if (models.subject().mixed) inspect_twin(search, models, causal, kWideTwin, Arithmetic::Mixed);
  search.inspected = 0;
  inspect_twin(search, models, causal, kWideTwin, Arithmetic::Float64);
  if (causal) inspect_dense_start(search, models);
  if (trains) inspect_gradients(search, models, !causal);
  return search;
}

AuditResult verdict_of(AuditModels& models, const Search& search, const std::string& note) {
  if (!search.leak.empty()) return judged(false, search.worst, 0, search.leak);
  if (!search.moved) {
    return {"", AuditVerdict::Undecided, 0, 0, "no logit depends on the tokens at all"};
  }
  if (!search.undecided.empty()) return {"", AuditVerdict::Undecided, 0, 0, search.undecided};
  if (models.full() != nullptr) {
    const std::string rest = search.left_out.empty() ? "" : "; at size without " + search.left_out;
    return judged(true, 0, 0, note + rest);
  }
  return {"", AuditVerdict::Skipped, kNaN, 0, models.too_large() + "; its twin passes"};
}

}  // namespace

AuditResult check_causality(AuditModels& models) {
  if (models.tokens() < 2) return {"", AuditVerdict::Skipped, kNaN, 0, "a window of one token"};
  const AuditModel declared = models.twin(kGradientTwin, {0});
  const std::vector<AuditedMode> modes = audited_modes(declared.model().family());
  const bool trains = modes.front().causal;
  const Search search = search_for_leaks(models, true, trains);
  return verdict_of(
      models, search,
      fmt::format("{} modes, {} cuts in {} cells of {} tokens; every cut of twins of {}",
                  search.inspected, search.at_size, search.cells, models.tokens(),
                  std::min(models.tokens(), kLongTwin.tokens)));
}

AuditResult check_declaration(AuditModels& models) {
  const AuditModel asked = models.twin(kGradientTwin, {0});
  std::string declared;
  bool trains = false;
  for (const AuditedMode& mode : audited_modes(asked.model().family())) {
    if (mode.causal) continue;
    trains = trains || mode.context.training;
    if (mode.name == "evaluation") {
      return judged(false, kNaN, 0,
                    "evaluation looks ahead: its losses are not those of predictions");
    }
    if (models.tokens() < 2) return {"", AuditVerdict::Skipped, kNaN, 0, "a window of one token"};
    if (mode.reason.empty())
      return judged(false, 0, 0, mode.name + " looks ahead without a reason");
    const at::Tensor text = audit_tokens(asked.options().vocabulary, {1, 2, 2}, 5);
    if (!with_held_masks(asked, text, mode.context)) {
      return judged(false, 0, 0, mode.name + " looks ahead, but no layer has recorded a mask");
    }
    declared += (declared.empty() ? "" : "; ") + mode.name + ": " + mode.reason;
  }
  if (declared.empty()) return judged(true, 0, 0, "every mode is causal");
  return verdict_of(models, search_for_leaks(models, false, trains), declared);
}

}  // namespace depthgrid
