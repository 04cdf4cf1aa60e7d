#include "sweeps/page/effects_blocks.hpp"

#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/json_text.hpp"
#include "sweeps/compare/compare_report.hpp"
#include "sweeps/compare/number_text.hpp"
#include "sweeps/page/html.hpp"
#include "sweeps/picture/interval_plot.hpp"
#include "sweeps/picture/mean_plot.hpp"

namespace depthgrid {
namespace {

/// For a CSV: empty for NaN.
std::string exact_number(double value) {
  return std::isnan(value) ? std::string() : shortest(value);
}

std::string axis_label(const Comparison& comparison) {
  return comparison.metric + (comparison.unit.empty() ? "" : " (" + comparison.unit + ")");
}

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

std::string verdict_word(const ContrastEvidence& evidence) {
  if (evidence.pairs.refused) return "refused";
  return std::isnan(evidence.p()) ? "" : std::string(contrast_verdict_text(evidence.verdict));
}

/// The rows of a table of effects, for people and as CSV.
Table effects_table(const EffectTable& effects) {
  Table out{{{effects.factor},
             {"mean ± sd", Align::Right},
             {"seeds", Align::Right},
             {"difference", Align::Right},
             {"95 % interval"},
             {"all at once"},
             {"Holm p", Align::Right},
             {"g", Align::Right},
             {"improved", Align::Right},
             {"verdict"}},
            {}};
  for (const ComparedRow& row : effects.rows) {
    const bool paired = row.evidence && row.evidence->sample.n > 0;
    const SampleSummary& sample = paired ? row.evidence->sample : row.all;
    std::vector<std::string> line = {row.group.name + (row.group.baseline ? " (baseline)" : ""),
                                     mean_text(sample), std::to_string(sample.n)};
    line.resize(out.columns.size());
    if (row.evidence) {
      const ContrastEvidence& e = *row.evidence;
      const PairedContrast& c = e.contrast;
      line[3] = difference_text(c.mean, (c.interval.high - c.interval.low) / 2);
      line[4] = interval_text(c.interval);
      line[5] = interval_text(e.simultaneous);
      line[6] = probability_text(e.holm);
      line[7] = std::isnan(e.effect.g) ? "-" : fmt::format("{:.2f}", e.effect.g);
      line[8] = std::isnan(e.improved.share) ? "-" : fmt::format("{:.2f}", e.improved.share);
      line[9] = verdict_word(e);
    }
    out.rows.push_back(std::move(line));
  }
  return out;
}

/// Effects against the baseline, as a forest plot; nothing if there is no interval.
std::optional<PageChart> effects_chart(const Comparison& comparison, const EffectTable& effects,
                                       const std::string& id) {
  IntervalPlotData data;
  Table numbers{{{effects.factor},
                 {"difference"},
                 {"low"},
                 {"high"},
                 {"simultaneous_low"},
                 {"simultaneous_high"},
                 {"verdict"}},
                {}};
  if (comparison.margin) data.margin = *comparison.margin;
  bool any = false;
  for (const ComparedRow& row : effects.rows) {
    if (!row.evidence || row.evidence->pairs.refused) continue;
    const ContrastEvidence& e = *row.evidence;
    IntervalRow& out = data.rows.emplace_back();
    out.label = without_folders(row.group.name);
    out.mean = e.contrast.mean;
    out.interval = {e.contrast.interval.low, e.contrast.interval.high};
    out.simultaneous = {e.simultaneous.low, e.simultaneous.high};
    out.verdict = verdict_word(e);
    out.marker = marker_of(e);
    any = any || !std::isnan(e.contrast.interval.low);
    numbers.rows.push_back(
        {row.group.name, exact_number(e.contrast.mean), exact_number(e.contrast.interval.low),
         exact_number(e.contrast.interval.high), exact_number(e.simultaneous.low),
         exact_number(e.simultaneous.high), out.verdict});
  }
  if (!any) return std::nullopt;
  ChartText text;
  text.id = id;
  text.title =
      fmt::format("Differences to {} = {}", effects.factor, without_folders(effects.baseline_name));
  text.description =
      "Mean difference over paired seeds, thick: 95 % interval, thin: all at once. The numbers are "
      "in the table beside it.";
  text.x_label = axis_label(comparison) + ", difference";
  return PageChart{text.id, text.title, text.description, interval_plot(data, text),
                   std::move(numbers)};
}

/// "hidden = 64 differs from 32: −0.0059 [−0.0081, −0.0037], Holm p .012."
PageBlocks sentences_of(const Comparison& comparison, const EffectTable& effects) {
  PageBlocks out;
  std::size_t decided = 0, undecided = 0;
  for (const ComparedRow& row : effects.rows) {
    if (!row.evidence || std::isnan(row.evidence->p())) continue;
    if (row.evidence->verdict == ContrastVerdict::Undecided) {
      ++undecided;
      continue;
    }
    ++decided;
    const PairedContrast& c = row.evidence->contrast;
    const bool differs = row.evidence->verdict == ContrastVerdict::Differs;
    const bool better = (c.mean < 0) == (comparison.goal != "maximize");
    out.emplace_back(
        PageText{PageText::Kind::Item,
                 fmt::format("{} {}: {} {}, Holm p {}.",
                             !differs ? "has no effect beyond the margin against"
                             : better ? "is better than"
                                      : "is worse than",
                             effects.baseline_name,
                             difference_text(c.mean, (c.interval.high - c.interval.low) / 2),
                             interval_text(c.interval), probability_text(row.evidence->holm)),
                 row.group.name});
  }
  if (undecided > 0) {
    out.emplace_back(PageText{
        PageText::Kind::Paragraph,
        fmt::format("{} of {} contrasts {} undecided: these seeds do not show a difference, and do "
                    "not show that there is none.",
                    undecided, undecided + decided, undecided == 1 ? "is" : "are")});
  }
  return out;
}

}  // namespace

PageChart means_chart(const Comparison& comparison, const EffectTable& effects,
                      const std::string& id) {
  MeanPlotData data;
  Table numbers{{{effects.factor}, {comparison.metric}}, {}};
  std::size_t number = 0;
  for (const ComparedRow& row : effects.rows) {
    MeanRow& out = data.rows.emplace_back();
    out.label = without_folders(row.group.name);
    out.series = number++;
    out.values = row.values;
    out.mean = row.all.mean;
    for (const double value : row.values) {
      numbers.rows.push_back({row.group.name, exact_number(value)});
    }
  }
  ChartText text;
  text.id = id;
  text.title = fmt::format("{} of each seed", comparison.metric);
  text.description = "One dot a seed, a mark at the mean.";
  text.x_label = axis_label(comparison);
  return {text.id, text.title, text.description, mean_plot(data, text), std::move(numbers)};
}

PageBlocks effects_blocks(const Comparison& comparison, const EffectTable& effects,
                          const std::string& id) {
  PageBlocks out = sentences_of(comparison, effects);
  if (auto chart = effects_chart(comparison, effects, id + "-effects")) {
    out.emplace_back(std::move(*chart));
  }
  Comparison alone = comparison;
  alone.effects = {effects};
  out.emplace_back(PageTable{fmt::format("{} by {}", comparison.metric, effects.factor),
                             effects_table(effects), true, comparison_csv_table(alone)});
  const auto note = [&out](std::string text) {
    out.emplace_back(PageText{PageText::Kind::Note, std::move(text)});
  };
  if (!effects.others.empty()) {
    note(fmt::format("A seed is the mean over the combinations of {} that both sides have.",
                     fmt::join(effects.others, ", ")));
  }
  if (!effects.moving_with.empty()) {
    note(fmt::format("{} changes with it: the effect is of all together.",
                     fmt::join(effects.moving_with, ", ")));
  }
  for (const ComparedRow& row : effects.rows) {
    if (!row.evidence || !row.evidence->pairs.refused) continue;
    note(fmt::format("No difference for {}: {}.", row.group.name,
                     row.evidence->pairs.refused.text()));
  }
  return out;
}

}  // namespace depthgrid
