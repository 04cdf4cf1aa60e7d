#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sweeps/compare/arms_notes.hpp"
#include "sweeps/compare/number_text.hpp"
#include "sweeps/page/html.hpp"
#include "sweeps/page/page_sections.hpp"
#include "sweeps/picture/interval_plot.hpp"
#include "sweeps/picture/mean_plot.hpp"

namespace depthgrid {
namespace {

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

/// Effects against the baseline, as a forest plot; empty if there is no interval.
std::string effects_plot(const Comparison& comparison, const EffectTable& effects,
                         const std::string& id) {
  IntervalPlotData data;
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
  }
  if (!any) return {};
  ChartText text;
  text.id = id;
  text.title =
      fmt::format("Differences to {} = {}", effects.factor, without_folders(effects.baseline_name));
  text.description =
      "Mean difference over paired seeds, thick: 95 % interval, thin: all at once. The numbers are "
      "in the table beside it.";
  text.x_label = axis_label(comparison) + ", difference";
  return html_chart(interval_plot(data, text), text.title);
}

/// Every seed and the mean of each group.
std::string means_plot(const Comparison& comparison, const EffectTable& effects,
                       const std::string& id) {
  MeanPlotData data;
  std::size_t number = 0;
  for (const ComparedRow& row : effects.rows) {
    MeanRow& out = data.rows.emplace_back();
    out.label = without_folders(row.group.name);
    out.series = number++;
    out.values = row.values;
    out.mean = row.all.mean;
  }
  ChartText text;
  text.id = id;
  text.title = fmt::format("{} of each seed", comparison.metric);
  text.description = "One dot a seed, a mark at the mean.";
  text.x_label = axis_label(comparison);
  return html_chart(mean_plot(data, text), text.title);
}

/// "hidden = 64 differs from 32: −0.0059 [−0.0081, −0.0037], Holm p .012."
std::string sentences_of(const Comparison& comparison, const EffectTable& effects) {
  std::vector<std::string> out;
  for (const ComparedRow& row : effects.rows) {
    if (!row.evidence || std::isnan(row.evidence->p()) ||
        row.evidence->verdict == ContrastVerdict::Undecided) {
      continue;
    }
    const PairedContrast& c = row.evidence->contrast;
    const bool differs = row.evidence->verdict == ContrastVerdict::Differs;
    const bool better = (c.mean < 0) == (comparison.goal != "maximize");
    out.push_back(fmt::format("<li><strong>{}</strong> {} {}: {} {}, Holm p {}.</li>",
                              html_text(row.group.name),
                              !differs ? "has no effect beyond the margin against"
                              : better ? "is better than"
                                       : "is worse than",
                              html_text(effects.baseline_name),
                              difference_text(c.mean, (c.interval.high - c.interval.low) / 2),
                              interval_text(c.interval), probability_text(row.evidence->holm)));
  }
  const std::size_t decided = out.size();
  std::size_t undecided = 0;
  for (const ComparedRow& row : effects.rows) {
    undecided += row.evidence && !std::isnan(row.evidence->p()) &&
                 row.evidence->verdict == ContrastVerdict::Undecided;
  }
  std::string text;
  if (decided > 0) text += fmt::format("<ul>{}</ul>\n", fmt::join(out, "\n"));
  if (undecided > 0) {
    text += fmt::format(
        "<p>{} of {} contrasts {} undecided: these seeds do not show a difference, and do not show "
        "that there is none.</p>\n",
        undecided, undecided + decided, undecided == 1 ? "is" : "are");
  }
  return text;
}

std::string effects_block(const Comparison& comparison, const std::string& id) {
  const EffectTable& effects = comparison.effects.front();
  const Table table = effects_table(effects);
  std::string out = sentences_of(comparison, effects);
  out += effects_plot(comparison, effects, id + "-effects");
  out += html_table(table, fmt::format("{} by {}", comparison.metric, effects.factor));
  if (!effects.others.empty()) {
    out += fmt::format(
        "<p class=\"note\">A seed is the mean over the combinations of {} that both "
        "sides have.</p>\n",
        html_text(fmt::format("{}", fmt::join(effects.others, ", "))));
  }
  if (!effects.moving_with.empty()) {
    out += fmt::format("<p class=\"note\">{} changes with it: the effect is of all together.</p>\n",
                       html_text(fmt::format("{}", fmt::join(effects.moving_with, ", "))));
  }
  for (const ComparedRow& row : effects.rows) {
    if (!row.evidence || !row.evidence->pairs.refused) continue;
    out += fmt::format("<p class=\"note\">No difference for {}: {}.</p>\n",
                       html_text(row.group.name), html_text(row.evidence->pairs.refused.text()));
  }
  return out + html_csv(comparison_csv_table(comparison));
}

std::string command_line(const PageData& data, const std::string& options) {
  return "<p class=\"note\">By <code>depthgrid compare " + html_text(data.listing.sweep + options) +
         "</code></p>\n";
}

}  // namespace

std::string answer_section(const PageData& data) {
  const Comparison& arms = data.by_arm;
  std::string out;
  if (!data.listing.description.empty()) {
    out += "<p class=\"question\">" + html_text(data.listing.description) + "</p>\n";
  }
  out +=
      fmt::format("<p>{}{}: {} is better.{}</p>\n", html_text(arms.metric),
                  arms.unit.empty() ? "" : " in " + html_text(arms.unit),
                  arms.goal == "maximize" ? "higher" : "lower",
                  arms.sees_future ? " <strong>It is of a pass that sees later tokens: no figure "
                                     "of a language model.</strong>"
                                   : "");
  if (data.problem) {
    out += "<p class=\"problem\"><strong>No verdict:</strong> " +
           html_text(data.problem->sentence) + ".</p>\n";
  }
  if (arms.effects.empty() || arms.effects.front().rows.empty()) return out;
  out += means_plot(arms, arms.effects.front(), "answer-means");
  return out + effects_block(arms, "answer") + command_line(data, "");
}

std::string factors_section(const PageData& data) {
  std::string out;
  for (std::size_t i = 0; i < data.by_factor.size(); ++i) {
    const Comparison& one = data.by_factor[i];
    const std::string& factor = one.effects.front().factor;
    out += "<h3>" + html_text(factor) + "</h3>\n";
    out += effects_block(one, fmt::format("factor-{}", i));
    for (const VarianceTable& variance : one.variance) {
      if (!variance.refused.empty()) continue;
      out += fmt::format("<p>Share of variance, the seed as block: η² {:.3g}, ω² {:.3g}.</p>\n",
                         variance.effects.a.eta2, variance.effects.a.omega2);
    }
    out += command_line(data, " --by " + factor);
  }
  return out;
}

}  // namespace depthgrid
