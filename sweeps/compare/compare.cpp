#include "sweeps/compare/compare.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/error.hpp"
#include "storage/columns/variables.hpp"
#include "sweeps/compare/combination_pairing.hpp"
#include "sweeps/compare/factor_name.hpp"
#include "sweeps/compare/level_trend.hpp"
#include "sweeps/compare/multiplicity.hpp"
#include "sweeps/compare/parameter_basis.hpp"
#include "sweeps/compare/training_basis.hpp"
#include "sweeps/compare/variance.hpp"
#include "sweeps/report/evaluation_basis.hpp"
#include "sweeps/report/filter.hpp"
#include "sweeps/report/level_text.hpp"
#include "sweeps/report/results_query.hpp"

namespace depthgrid {
namespace {

using FigureOf = std::function<double(std::size_t row)>;

/// What all tables of one answer share.
struct ComparisonContext {
  const Listing& listing;
  FigureOf figure;
  EvidenceRules rules;  // with the origins of times
  DetectableEffects& detectable;
};

/// Effects at one level of another factor: the level, and its cells.
struct Slice {
  std::string name;  // "data.seq_len = 64"
  std::vector<std::size_t> rows;
};

std::vector<Slice> slices_of(const Listing& listing, const std::vector<std::size_t>& rows,
                             const std::string& leaf) {
  std::vector<Slice> out;
  for (const ComparedGroup& group : design_of(listing, rows, leaf).groups) {
    if (group.level) out.push_back({fmt::format("{} = {}", leaf, group.name), group.cells});
  }
  return out;
}

/// At one level of another factor the baseline is missing if it is an arm without that leaf: the
/// first level takes its place. A level that is not there is not replaced.
void take_first_level(const Listing& listing, Design& design) {
  for (std::size_t row = 0; row < listing.cells.size(); ++row) {
    const Value* const level = level_of(listing, row, design.factor);
    if (level != nullptr && level_text(*level) == design.baseline_name) return;
  }
  const auto at = std::ranges::find_if(
      design.groups, [](const ComparedGroup& group) { return group.level.has_value(); });
  if (at == design.groups.end()) return;
  at->baseline = true;
  design.baseline = static_cast<std::size_t>(at - design.groups.begin());
  design.baseline_name = at->name;
}

/// A factor that was asked for, with others that are one with it.
struct AskedFactor {
  std::string leaf;
  std::vector<std::string> with;
};

/// Whether each level of one leaf goes with one level of the other, as columns of a `zip` do, and
/// widths by `match:`.
bool move_together(const Listing& listing, const std::vector<std::size_t>& rows,
                   const std::string& a, const std::string& b) {
  std::map<std::string, std::string> of_a, of_b;
  for (const std::size_t row : rows) {
    const Value* const left = level_of(listing, row, a);
    const Value* const right = level_of(listing, row, b);
    if (left == nullptr || right == nullptr) continue;  // an arm without one of them
    const std::string l = canonical_json(*left), r = canonical_json(*right);
    if (of_a.emplace(l, r).first->second != r || of_b.emplace(r, l).first->second != l) {
      return false;
    }
  }
  return of_a.size() > 1;
}

std::vector<AskedFactor> asked_factors(const Listing& listing, const std::vector<std::size_t>& rows,
                                       const std::vector<std::string>& by) {
  std::vector<AskedFactor> out;
  for (const std::string& name : by) {
    const auto one = std::ranges::find_if(out, [&](const AskedFactor& factor) {
      return move_together(listing, rows, factor.leaf, name);
    });
    if (one == out.end()) {
      out.push_back({name, {}});
    } else {
      one->with.push_back(name);
    }
  }
  return out;
}

EffectTable effect_table(const ComparisonContext& context, const std::vector<std::size_t>& rows,
                         const AskedFactor& factor, std::string_view baseline,
                         const std::string& within) {
  const Listing& listing = context.listing;
  Design design = design_of(listing, rows, factor.leaf, baseline);
  if (!design.baseline && !within.empty()) take_first_level(listing, design);
  EffectTable out;
  out.factor = factor.leaf;
  out.with = factor.with;
  out.within = within;
  out.baseline_name = design.baseline_name;
  out.baseline_selected = design.baseline.has_value();
  out.others = design.others;
  out.moving_with = design.moving_with;
  GroupFigures theirs;
  if (design.baseline) {
    theirs = group_figures(listing, design, design.groups[*design.baseline], context.figure);
  }
  for (const ComparedGroup& group : design.groups) {
    ComparedRow& row = out.rows.emplace_back(group);
    const GroupFigures mine = group_figures(listing, design, group, context.figure);
    row.values = averages_of(mine);
    row.all = summary_of(row.values);
    row.shared = share_measurements(context.rules.times, rows_of(mine));
    if (group.baseline || !design.baseline) continue;
    CombinationPairing pairing =
        combination_pairing(listing, design, group, mine, design.groups[*design.baseline], theirs);
    row.evidence =
        contrast_evidence(context.rules, mine, theirs, pairing.paired, context.detectable);
    row.evidence->compared_with = std::move(pairing.note);
  }
  add_level_trend(listing, design, context.figure, out);
  return out;
}

/// Holm's p, simultaneous intervals and verdicts of the tables that are no exploration; the verdict
/// of each other contrast is of its own test.
void judge(Comparison& comparison) {
  std::vector<ContrastEvidence*> family;
  for (EffectTable& table : comparison.effects) {
    for (ComparedRow& row : table.rows) {
      if (!row.evidence) continue;
      ContrastEvidence& evidence = *row.evidence;
      if (!table.exploratory && !std::isnan(evidence.p())) family.push_back(&evidence);
    }
  }
  std::vector<double> p;
  for (const ContrastEvidence* one : family) p.push_back(one->p());
  const std::vector<double> holm = holm_adjusted(p);
  comparison.family = family.size();
  const double confidence = simultaneous_confidence(family.size());
  for (std::size_t i = 0; i < family.size(); ++i) {
    family[i]->holm = holm[i];
    family[i]->simultaneous = t_interval(family[i]->contrast, confidence);
  }
  for (EffectTable& table : comparison.effects) {
    for (ComparedRow& row : table.rows) {
      if (row.evidence) {
        row.evidence->verdict = contrast_verdict(row.evidence->holm, row.evidence->equivalence.p);
      }
    }
  }
}

/// Metrics that some completed cell has, and the sweep's own.
std::vector<std::string> metrics_of(const Listing& listing) {
  std::set<std::string> names;
  if (!listing.metric.empty()) names.insert(listing.metric);
  for (const CellSummary& cell : listing.cells) {
    for (const auto& [name, value] : cell.metrics) names.insert(name);
  }
  return {names.begin(), names.end()};
}

/// A metric by its name or the last part of it.
/// @throws UserError (Usage) if there is none, also if a column of results that is none is meant.
std::string metric_named(const Listing& listing, const std::string& word) {
  const std::vector<std::string> metrics = metrics_of(listing), columns = query_names(listing);
  const bool is_metric = std::ranges::any_of(metrics, [&word](const std::string& name) {
    return name == word || name.ends_with("." + word);
  });
  if (!is_metric && std::ranges::find(columns, word) != columns.end()) {
    throw UserError(
        ExitCode::Usage,
        fmt::format("--metric {}: that is a column of results, but no metric that a training or an "
                    "evaluation gives: one was expected, as {}{}",
                    word, listing.metric,
                    word == "parameters" ? "; --at parameters compares arms of equal size" : ""));
  }
  return resolve_name(word, metrics, "depthgrid results STORE --csv");
}

/// Where the figures of a query come from, if they are times or read at them.
TimeOrigins times_of(const Listing& listing, const std::vector<std::size_t>& rows,
                     const ComparisonQuery& query) {
  if (query.derived) return query.derived->times;
  if (query.times) return *query.times;
  return is_measured_time(query.metric) ? read_time_origins(listing, rows) : TimeOrigins();
}

/// No shares of figures whose seeds share a measurement.
void refuse_shared_measurements(Comparison& comparison) {
  const bool shared = std::ranges::any_of(comparison.effects, [](const EffectTable& table) {
    return std::ranges::any_of(table.rows, [](const ComparedRow& row) {
      return row.evidence && row.evidence->shares_measurements();
    });
  });
  for (VarianceTable& table : comparison.variance) {
    if (!shared || !table.refused.empty()) continue;
    table.refused = "seeds of one fused job share one measurement of time";
    table.effects = {};
    table.interactions.clear();
  }
}

bool sees_future(const Listing& listing, const std::vector<std::size_t>& rows,
                 const std::string& metric) {
  const bool of_training = metric.starts_with("train_loss");
  const std::size_t dot = metric.find('.');
  if (!of_training && dot == metric.npos) return false;
  const std::string fact =
      "eval_mode_noncausal." + (of_training ? "teacher_topk" : metric.substr(dot + 1));
  return std::ranges::any_of(rows, [&](std::size_t row) {
    const auto& facts = listing.cells[row].facts;
    const auto at = facts.find(fact);
    return at != facts.end() && at->second > 0;
  });
}

/// Completed cells that have no number of the metric: a table shows them as seeds left out only.
std::vector<std::string> cells_without_figure(const Listing& listing,
                                              const Comparison& comparison) {
  std::set<std::size_t> cells;
  for (const EffectTable& table : comparison.effects) {
    for (const ComparedRow& row : table.rows) {
      for (const std::size_t at : row.group.cells) {
        const CellSummary& cell = listing.cells[at];
        const auto figure = cell.metrics.find(comparison.metric);
        const bool none = figure == cell.metrics.end() || std::isnan(figure->second);
        if (cell.status == CellStatus::Completed && none) cells.insert(at);
      }
    }
  }
  std::vector<std::string> out;
  for (const std::size_t at : cells) out.push_back(listing.cells[at].alias);
  return out;
}

/// Factors in full, each once, with what else the query needs; as a user wrote them before.
ComparisonQuery resolved_query(const Listing& listing, ComparisonQuery query) {
  std::vector<std::string> by;
  for (const std::string& word : query.by) {
    const std::string name = factor_named(listing, "--by", word);
    if (std::ranges::find(by, name) == by.end()) by.push_back(name);
  }
  query.by = std::move(by);
  if (query.by.empty()) query.by = {"arm"};
  if (!query.within.empty()) query.within = factor_named(listing, "--within", query.within);
  for (const char* word : {"arm", "tag", "store"}) {
    if (query.within != word) continue;
    throw UserError(
        ExitCode::Usage,
        fmt::format("compare: --within {}: a leaf that the sweep varies was expected", word));
  }
  if (std::ranges::find(query.by, query.within) != query.by.end()) {
    throw UserError(ExitCode::Usage, "compare: --within " + query.within + " is a factor of --by");
  }
  if (query.derived) {
    query.metric = query.derived->name;  // no cell need have it
  } else if (query.metric.empty()) {
    query.metric = listing.metric;
  } else {
    query.metric = metric_named(listing, query.metric);
  }
  if (query.goal.empty()) query.goal = goal_of(listing, query.metric);
  check_allowed_words(query.allowed);
  return query;
}

}  // namespace

std::string EffectTable::title() const {
  return with.empty() ? factor : fmt::format("{} (with {})", factor, fmt::join(with, ", "));
}

std::string goal_of(const Listing& listing, const std::string& metric) {
  if (metric == listing.metric && !listing.goal.empty()) return listing.goal;
  if (metric.starts_with("steps_to_target.") || metric.starts_with("late_noise.")) {
    return "minimize";
  }
  constexpr std::array<std::string_view, 4> kMaximized = {"accuracy", "auc", "gain", "per_second"};
  const bool more_is_better = std::ranges::any_of(
      kMaximized, [&metric](std::string_view word) { return metric.find(word) != metric.npos; });
  return more_is_better ? "maximize" : "minimize";
}

void add_time_origins(const Listing& listing, const std::vector<std::size_t>& rows,
                      ComparisonQuery& query) {
  query.times = times_of(listing, rows, resolved_query(listing, query));
}

Comparison compare_cells(const Listing& listing, const std::vector<std::size_t>& rows,
                         const ComparisonQuery& asked) {
  const ComparisonQuery query = resolved_query(listing, asked);
  const std::string& measured = query.derived ? query.derived->of : query.metric;
  const EvaluationBasis basis(listing, measured);
  const ParameterBasis parameters(listing, query.parameter_tolerance);
  std::vector<std::string> allowed_leaves = query.by;
  allowed_leaves.insert(allowed_leaves.end(), query.allowed.begin(), query.allowed.end());
  const TimeOrigins times = times_of(listing, rows, query);
  const std::vector<std::string> leaves = leaves_of_arms(listing);
  allowed_leaves.insert(allowed_leaves.end(), leaves.begin(), leaves.end());
  const auto mismatch = [&](std::size_t a, std::size_t b) {
    BasisMismatch found = basis.mismatch(a, b);
    if (!found) found = parameters.mismatch(a, b);
    if (!found) found = machine_mismatch(times, a, b);
    if (found) return found;
    return training_mismatch(listing, a, b, allowed_leaves);
  };
  const auto figure = [&](std::size_t row) {
    const auto& metrics = listing.cells[row].metrics;
    const auto at = metrics.find(query.metric);
    return at == metrics.end() ? kNaN : at->second;
  };
  DetectableEffects detectable;
  const ComparisonContext context{listing,
                                  figure,
                                  {.mismatch = mismatch,
                                   .derived = query.derived ? &*query.derived : nullptr,
                                   .times = times,
                                   .margin = query.margin,
                                   .maximize = query.goal == "maximize"},
                                  detectable};

  Comparison out;
  out.metric = query.metric;
  out.goal = query.goal;
  // What is read from curves, at an equal cost too, is not what the sweep was made to ask.
  out.exploratory = query.derived.has_value() || query.metric != listing.metric;
  out.margin = query.margin;
  out.baseline_named = !query.baseline.empty();
  out.metric_named = !asked.metric.empty();
  out.goal_named = !asked.goal.empty() && !asked.derived;  // that of a derived metric is its own
  const Variable* const variable =
      find_variable(std::string_view(measured).substr(0, measured.find('.')));
  if (query.derived) {
    out.note = query.derived->note;
    out.lacking = query.derived->lacking;
    if (!out.lacking.empty()) {
      out.note += (out.note.empty() ? "" : "; ") + ("no figure: " + out.lacking);
    }
  }
  if (out.metric.starts_with("steps_to_target.")) {
    out.unit = "steps";
  } else if (variable != nullptr && variable->units != "1") {
    out.unit = variable->units;
  }
  out.sees_future = sees_future(listing, rows, measured);
  if (!query.within.empty()) {
    for (const ComparedGroup& group : design_of(listing, rows, query.within).groups) {
      if (!group.level) out.outside.push_back(group.name);
    }
  }
  const std::vector<AskedFactor> factors = asked_factors(listing, rows, query.by);
  const auto baseline_of = [&](std::size_t i) { return i == 0 ? query.baseline : std::string(); };
  out.within = query.within;
  for (std::size_t i = 0; i < factors.size(); ++i) {
    const std::size_t first = out.effects.size();
    if (query.within.empty()) {
      out.effects.push_back(effect_table(context, rows, factors[i], baseline_of(i), ""));
    } else {
      for (const Slice& slice : slices_of(listing, rows, query.within)) {
        out.effects.push_back(
            effect_table(context, slice.rows, factors[i], baseline_of(i), slice.name));
      }
    }
    if (out.effects.size() > first) out.by.push_back(out.effects[first].title());
  }
  // Effects at single levels of the other factors asked for.
  for (std::size_t i = 0; i < factors.size() && query.within.empty(); ++i) {
    for (std::size_t j = 0; j < factors.size(); ++j) {
      if (i == j) continue;
      for (const Slice& slice : slices_of(listing, rows, factors[j].leaf)) {
        EffectTable table =
            effect_table(context, slice.rows, factors[i], baseline_of(i), slice.name);
        table.exploratory = true;
        out.effects.push_back(std::move(table));
      }
    }
  }
  out.without_figure = cells_without_figure(listing, out);
  judge(out);
  if (query.within.empty()) {
    for (std::size_t i = 0; i < factors.size(); ++i) {
      for (std::size_t j = i + 1; j < factors.size(); ++j) {
        out.variance.push_back(variance_table(listing, rows, {factors[i].leaf, factors[j].leaf},
                                              {baseline_of(i), baseline_of(j)}, figure, mismatch));
      }
    }
    if (factors.size() == 1) {
      out.variance.push_back(variance_table(listing, rows, {factors[0].leaf, ""},
                                            {query.baseline, ""}, figure, mismatch));
    }
  }
  refuse_shared_measurements(out);
  return out;
}

}  // namespace depthgrid
