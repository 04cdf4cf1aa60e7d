#include "sweeps/page/effects_charts.hpp"

#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/json_text.hpp"
#include "sweeps/compare/effect_entries.hpp"
#include "sweeps/compare/number_text.hpp"
#include "sweeps/page/chosen_arms.hpp"
#include "sweeps/page/html.hpp"
#include "sweeps/page/leaf_names.hpp"
#include "sweeps/picture/interval_plot.hpp"
#include "sweeps/picture/mean_plot.hpp"

namespace depthgrid {
namespace {

MarkerShape marker_of(const ContrastEvidence& evidence) {
  if (std::isnan(evidence.p())) return MarkerShape::Bar;
  switch (evidence.verdict) {
    case ContrastVerdict::NoEffect:
      return MarkerShape::Square;
    case ContrastVerdict::Differs:
      return MarkerShape::Diamond;
    case ContrastVerdict::Undecided:
      break;
  }
  return MarkerShape::Circle;
}

/// Rows of a forest plot, and their numbers.
class ForestRows {
 public:
  explicit ForestRows(const Comparison& comparison) : comparison_(comparison) {
    if (comparison.margin) plot_.margin = *comparison.margin;
    for (const char* title : {"contrast", "against", "difference", "low", "high",
                              "simultaneous_low", "simultaneous_high", "verdict"}) {
      numbers_.columns.push_back({title});
    }
  }

  void add(const std::string& label, const EffectTable& effects, const ComparedRow& row) {
    const ContrastEvidence& e = *row.evidence;
    if (e.pairs.refused || std::isnan(e.contrast.mean)) return;
    IntervalRow& out = plot_.rows.emplace_back();
    out.label = without_folders(label);
    out.mean = e.contrast.mean;
    out.interval = {e.contrast.interval.low, e.contrast.interval.high};
    if (!effects.exploratory) out.simultaneous = {e.simultaneous.low, e.simultaneous.high};
    out.verdict = verdict_entry(e, comparison_.margin);
    out.marker = marker_of(e);
    any_ = any_ || !std::isnan(e.contrast.interval.low);
    numbers_.rows.push_back(
        {label, effects.baseline_name, exact_number(e.contrast.mean),
         exact_number(e.contrast.interval.low), exact_number(e.contrast.interval.high),
         exact_number(out.simultaneous.low), exact_number(out.simultaneous.high), out.verdict});
  }

  /// Nothing if no row has an interval.
  std::optional<PageChart> chart(const std::string& id, const std::string& title,
                                 const std::string& command) {
    if (!any_) return std::nullopt;
    ChartText text;
    text.id = id;
    text.title = title;
    text.description =
        "Mean difference over paired seeds, thick: 95 % interval, thin: all contrasts of the "
        "family at once.";
    if (comparison_.margin) {
      text.description += fmt::format(" The band is δ = ± {}.", shortest(*comparison_.margin));
    }
    text.x_label = metric_title(comparison_) + ", difference";
    return PageChart{id, title, text.description, interval_plot(plot_, text), numbers_, command};
  }

 private:
  const Comparison& comparison_;
  IntervalPlotData plot_;
  Table numbers_;
  bool any_ = false;
};

}  // namespace

std::optional<PageChart> effects_chart(const Comparison& comparison, const EffectTable& effects,
                                       const std::string& id, const std::string& command) {
  ForestRows rows(comparison);
  for (const ComparedRow& row : effects.rows) {
    if (row.evidence) rows.add(row.group.name, effects, row);
  }
  return rows.chart(id,
                    fmt::format("Differences to {} = {}", effects.title(),
                                without_folders(effects.baseline_name)),
                    command);
}

std::optional<PageChart> family_chart(const Comparison& comparison, const std::string& id,
                                      const std::string& command) {
  ForestRows rows(comparison);
  std::vector<std::string> factors;
  for (const EffectTable& effects : comparison.effects) factors.push_back(effects.factor);
  for (const EffectTable& effects : comparison.effects) {
    if (effects.exploratory) continue;
    const std::string factor = short_leaf(effects.factor, factors);
    for (const ComparedRow& row : effects.rows) {
      if (!row.evidence) continue;
      const bool level = row.group.level || effects.factor == "tag" || effects.factor == "store";
      // An arm without the leaf stands beside its levels.
      rows.add(level ? fmt::format("{} = {}", factor, row.group.name)
                     : fmt::format("{} (no {})", row.group.name, factor),
               effects, row);
    }
  }
  return rows.chart(id, "Effects of all factors", command);
}

PageChart means_chart(const Comparison& comparison, const EffectTable& effects,
                      const std::string& id, const std::string& command) {
  MeanPlotData data;
  Table numbers{{{effects.factor}, {comparison.metric}}, {}};
  std::vector<const ComparedRow*> rows;
  for (const ComparedRow& row : effects.rows) {
    rows.push_back(&row);
    for (const double value : row.values) {
      numbers.rows.push_back({row.group.name, exact_number(value)});
    }
  }
  for (const std::size_t number : chosen_arms(rows, comparison.goal == "maximize")) {
    const ComparedRow& row = *rows[number];
    MeanRow& out = data.rows.emplace_back();
    out.label = without_folders(row.group.name) + (row.group.baseline ? " (baseline)" : "");
    out.series = number;
    out.values = row.values;
    out.mean = row.all.mean;
  }
  ChartText text;
  text.id = id;
  text.title = fmt::format("{} of each seed", comparison.metric);
  text.description = "One dot a seed, a mark at the mean.";
  const std::string choice =
      chosen_arms_text(data.rows.size(), rows.size(), effects.factor == "arm" ? "arms" : "levels",
                       comparison.metric, has_baseline(effects));
  if (!choice.empty()) text.description += " " + choice;
  text.x_label = metric_title(comparison);
  PageChart out{id,     text.title, text.description, mean_plot(data, text), std::move(numbers),
                command};
  out.caption = choice;
  return out;
}

}  // namespace depthgrid
