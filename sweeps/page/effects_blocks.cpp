#include "sweeps/page/effects_blocks.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/json_text.hpp"
#include "sweeps/compare/arms_notes.hpp"
#include "sweeps/compare/compare_notes.hpp"
#include "sweeps/compare/compare_report.hpp"
#include "sweeps/compare/effect_entries.hpp"
#include "sweeps/compare/number_text.hpp"
#include "sweeps/page/effects_charts.hpp"

namespace depthgrid {
namespace {

/// What a reader searches for first, within the width of a screen.
Table effects_table(const EffectTable& effects, std::optional<double> margin) {
  const bool lacking = std::ranges::any_of(
      effects.rows, [](const ComparedRow& row) { return row.group.missing() > 0; });
  Table out{{{effects.title()},
             {"mean ± sd", Align::Right},
             {"seeds", Align::Right},
             {"difference", Align::Right},
             {"95 % interval"},
             {"Holm p", Align::Right},
             {"verdict"},
             {"detectable", Align::Right}},
            {}};
  if (lacking) out.columns.push_back({"missing cells"});
  for (const ComparedRow& row : effects.rows) {
    const SampleSummary& sample = row.shown();
    std::vector<std::string> line = {row.group.name + (row.group.baseline ? " (baseline)" : ""),
                                     mean_text(sample), std::to_string(sample.n)};
    if (row.evidence) {
      const ContrastEvidence& e = *row.evidence;
      line.insert(line.end(), {difference_entry(e), interval_entry(e), probability_text(e.holm),
                               verdict_entry(e, margin), detectable_entry(e)});
    }
    line.resize(8);
    if (lacking) line.push_back(missing_text(row.group.counts));
    out.rows.push_back(std::move(line));
  }
  return out;
}

/// "64 is better than 32: −0.0059 [−0.0081, −0.0037], Holm p .012."
void add_decisions(PageBlocks& out, const Comparison& comparison, const EffectTable& effects) {
  for (const ComparedRow& row : effects.rows) {
    if (!row.evidence || std::isnan(row.evidence->p()) || row.evidence->censored ||
        row.evidence->verdict == ContrastVerdict::Undecided) {
      continue;
    }
    const PairedContrast& c = row.evidence->contrast;
    const bool differs = row.evidence->verdict == ContrastVerdict::Differs;
    const bool better = (c.mean < 0) == (comparison.goal != "maximize");
    const std::string beyond =
        fmt::format("has no effect beyond {} against", shortest(comparison.margin.value_or(0)));
    out.emplace_back(
        PageText{PageText::Kind::Item,
                 fmt::format("{} {}: {} {}, Holm p {}{}.",
                             !differs ? beyond
                             : better ? "is better than"
                                      : "is worse than",
                             effects.baseline_name, difference_entry(*row.evidence),
                             interval_entry(*row.evidence), probability_text(row.evidence->holm),
                             comparison.exploratory ? " (exploratory)" : ""),
                 row.group.name});
  }
}

}  // namespace

void add_notes(PageBlocks& out, const std::string& lines) {
  for (std::size_t at = 0; at < lines.size();) {
    const std::size_t end = std::min(lines.find('\n', at), lines.size());
    if (end > at) out.emplace_back(PageText{PageText::Kind::Note, lines.substr(at, end - at)});
    at = end + 1;
  }
}

PageBlocks effects_blocks(const Comparison& comparison, const EffectTable& effects,
                          const std::string& id, const std::string& command) {
  PageBlocks out;
  add_decisions(out, comparison, effects);
  if (auto chart = effects_chart(comparison, effects, id + "-effects", command)) {
    out.emplace_back(std::move(*chart));
  }
  Comparison alone = comparison;
  alone.effects = {effects};
  PageTable main{fmt::format("{} by {}{}", comparison.metric, effects.title(),
                             comparison.exploratory ? " (exploratory)" : ""),
                 effects_table(effects, comparison.margin)};
  main.exact = comparison_csv_table(alone);
  out.emplace_back(std::move(main));
  if (Table evidence = evidence_table(effects, "detectable"); !evidence.rows.empty()) {
    PageTable more{fmt::format("further evidence on {} by {}", comparison.metric, effects.title()),
                   std::move(evidence), false};
    more.folded = true;
    out.emplace_back(std::move(more));
  }
  if (!effects.others.empty()) {
    add_notes(out,
              fmt::format("A seed is the mean over the combinations of {} that both sides have.",
                          fmt::join(effects.others, ", ")));
  }
  if (!effects.moving_with.empty()) {
    add_notes(out, fmt::format("{} changes with it: the effect is of all together.",
                               fmt::join(effects.moving_with, ", ")));
  }
  add_notes(out, left_out_notes(effects));
  add_notes(out, trend_line(effects));
  return out;
}

}  // namespace depthgrid
