#include "sweeps/compare/compare_report.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/printable.hpp"
#include "sweeps/compare/arms_notes.hpp"
#include "sweeps/compare/compare_notes.hpp"
#include "sweeps/compare/effect_entries.hpp"
#include "sweeps/compare/number_text.hpp"
#include "sweeps/report/csv_listing.hpp"
#include "sweeps/report/provenance_notes.hpp"

namespace depthgrid {
namespace {

constexpr double kSameMean = 1e-12;  // of the mean: less is rounding

/// Whether some difference is to other cells of the baseline than its own mean is shown of.
bool is_of_other_cells(const EffectTable& table) {
  const auto base =
      std::ranges::find_if(table.rows, [](const ComparedRow& row) { return row.group.baseline; });
  if (base == table.rows.end()) return false;
  const double shown = base->all.mean;
  return std::ranges::any_of(table.rows, [shown](const ComparedRow& row) {
    if (!row.evidence || row.evidence->baseline.n == 0) return false;
    const double mean = row.evidence->baseline.mean;
    return mean != shown && !(std::abs(mean - shown) <= kSameMean * std::abs(shown));
  });
}

/// Columns of a table of effects after the group and its cells.
struct EffectColumns {
  bool baseline = false;  // the mean that a difference is to
  bool exploratory = false;
};

std::vector<TableColumn> effect_titles(const EffectColumns& columns, const std::string& metric) {
  std::vector<TableColumn> out = {{metric, Align::Right}, {"n", Align::Right}};
  if (columns.baseline) out.push_back({"baseline", Align::Right});
  out.insert(out.end(),
             {{"difference", Align::Right}, {"95 % interval", Align::Left}, {"p", Align::Right}});
  if (!columns.exploratory) out.push_back({"Holm p", Align::Right});
  out.push_back({"verdict", Align::Left});
  return out;
}

std::vector<std::string> effect_entries(const ComparedRow& row, const EffectColumns& columns,
                                        std::optional<double> margin) {
  const bool compared = row.compared();
  const SampleSummary& sample = row.shown();
  std::vector<std::string> out = {mean_text(sample), std::to_string(sample.n)};
  if (!row.evidence) {
    out.resize(effect_titles(columns, "").size());
    return out;
  }
  const ContrastEvidence& evidence = *row.evidence;
  if (columns.baseline) out.push_back(compared ? mean_text(evidence.baseline) : "-");
  out.push_back(difference_entry(evidence));
  out.push_back(interval_entry(evidence));
  out.push_back(probability_text(evidence.p()));
  if (!columns.exploratory) out.push_back(probability_text(evidence.holm));
  out.push_back(verdict_entry(evidence, margin));
  return out;
}

std::string effects_text(const EffectTable& table, const Comparison& comparison, Colour colour) {
  const bool lacking = std::ranges::any_of(
      table.rows, [](const ComparedRow& row) { return row.group.missing() > 0; });
  const bool tagged = std::ranges::any_of(table.rows, [](const ComparedRow& row) {
    return !row.group.tag.empty() && row.group.tag != row.group.name;
  });
  const EffectColumns columns{is_of_other_cells(table), table.exploratory};
  Table out{{{table.title()}}, {}};
  if (tagged) out.columns.push_back({"tag"});
  out.columns.push_back({"cells", Align::Right});
  if (lacking) out.columns.push_back({"missing"});
  for (TableColumn& column : effect_titles(columns, comparison.metric)) {
    out.columns.push_back(std::move(column));
  }
  for (const ComparedRow& row : table.rows) {
    std::vector<std::string> line = {row.group.name + (row.group.baseline ? " *" : "")};
    if (tagged) line.push_back(row.group.tag == row.group.name ? "" : row.group.tag);
    line.push_back(std::to_string(row.group.cells.size()));
    if (lacking) line.push_back(missing_text(row.group.counts));
    for (std::string& entry : effect_entries(row, columns, comparison.margin)) {
      line.push_back(std::move(entry));
    }
    out.rows.push_back(std::move(line));
  }
  std::string text = text_of(out, colour);
  if (columns.baseline) {
    text +=
        "baseline: its mean over the cells that a difference is to; beside *, over all of its "
        "own\n";
  }
  return text;
}

/// A leaf in which the cells of a table differ; LEAF if there is none.
std::string varying_leaf(const Listing& listing, const EffectTable& table) {
  std::map<std::string, std::string> known;
  for (const ComparedRow& row : table.rows) {
    for (const std::size_t cell : row.group.cells) {
      for (const auto& [leaf, value] : listing.cells[cell].overrides) {
        const std::string text = canonical_json(value);
        if (leaf != "seed" && known.emplace(leaf, text).first->second != text) return leaf;
      }
    }
  }
  return "LEAF";
}

/// Why the levels of a table of one slice are beside no baseline, and what to do.
std::string no_baseline_note(const Listing& listing, const EffectTable& table) {
  if (table.within.empty() || table.baseline_selected || table.rows.empty()) return {};
  if (table.baseline_name.empty()) {
    return "no differences: the sweep has no baseline; --baseline NAME compares with one\n";
  }
  return fmt::format(
      "no differences: the baseline {} has no cells at {}; --by {} compares levels there, and "
      "--baseline NAME with another group\n",
      table.baseline_name, table.within, varying_leaf(listing, table));
}

std::string table_text(const Listing& listing, const EffectTable& table,
                       const Comparison& comparison, Colour colour) {
  std::string out;
  if (!table.within.empty()) {
    out = printable(
        fmt::format("at {}{}:\n", table.within, table.exploratory ? " (exploratory)" : ""));
  }
  out += effects_text(table, comparison, colour);
  if (const Table evidence = evidence_table(table, "p");
      !table.exploratory && !evidence.rows.empty()) {
    out += text_of(evidence, colour);
  }
  std::string notes = no_baseline_note(listing, table);
  if (!table.others.empty()) {
    notes += fmt::format("a seed is the mean over the combinations of {} that both sides have\n",
                         fmt::join(table.others, ", "));
  }
  if (!table.moving_with.empty()) {
    notes +=
        fmt::format("{} differ{} from level to level, too: an effect is of all together\n",
                    fmt::join(table.moving_with, ", "), table.moving_with.size() == 1 ? "s" : "");
  }
  return out + printable(notes + left_out_notes(table) + trend_line(table));
}

std::string share_text(const char* of, const std::string& factor, const BlockEffect& effect) {
  if (std::isnan(effect.eta2)) return {};
  if (std::isnan(effect.p)) {
    return fmt::format("  {}{}: η² {:.3g}; no F, as nothing else varies\n", of, factor,
                       effect.eta2);
  }
  return fmt::format("  {}{}: η² {:.3g}, ω² {:.3g}, F({:.0f}, {:.0f}) {:.4g}, p {}\n", of, factor,
                     effect.eta2, effect.omega2, effect.degrees, effect.error_degrees, effect.f,
                     probability_text(effect.p));
}

std::string variance_text(const VarianceTable& table) {
  const std::string what = table.b.empty() ? table.a : table.a + " × " + table.b;
  if (!table.refused.empty()) {
    return fmt::format("no shares of variance of {}: {}\n", what, table.refused);
  }
  if (!(table.effects.total_squares > 0)) return {};  // nothing varies
  std::string out = fmt::format("shares of variance, {} seeds as blocks:\n", table.seeds.size());
  out += share_text("", table.a, table.effects.a);
  if (!table.b.empty()) {
    out += share_text("", table.b, table.effects.b);
    out += share_text("", what, table.effects.interaction);
  }
  for (const InteractionContrast& one : table.interactions) {
    out += fmt::format("  {} at {} less at the baseline of {}: {} {}, p {} (exploratory)\n", one.a,
                       one.b, table.b,
                       difference_text(one.contrast.mean, one.contrast.interval.half_width()),
                       interval_text(one.contrast.interval), probability_text(one.contrast.p));
  }
  return out;
}

}  // namespace

std::string comparison_text(const Listing& listing, const Comparison& comparison, Colour colour) {
  std::string out = fmt::format("{}: {} is better{}\n", metric_title(comparison),
                                comparison.goal == "maximize" ? "higher" : "lower",
                                comparison.exploratory ? " (exploratory)" : "");
  if (comparison.exploratory) {
    out += fmt::format("exploratory: the sweep's own question is of {} at the end of training\n",
                       listing.metric);
  }
  out += other_questions_note(listing, comparison);
  if (!comparison.note.empty()) out += comparison.note + "\n";
  if (comparison.sees_future) {
    out += "it is of a pass that sees later tokens: no figure of a language model\n";
  }
  out = printable(out);
  std::vector<std::size_t> rows;
  for (const EffectTable& table : comparison.effects) {
    out += "\n";
    out += table_text(listing, table, comparison, colour);
    for (const ComparedRow& row : table.rows) {
      if (table.within.empty())
        rows.insert(rows.end(), row.group.cells.begin(), row.group.cells.end());
    }
  }
  std::string notes = without_figure_note(comparison);
  if (!comparison.outside.empty()) {
    notes += fmt::format("without the leaf of --within, so in no table: {}\n",
                         fmt::join(comparison.outside, ", "));
  }
  if (listing.repeated > 0) {
    notes += fmt::format("{} cell{} in more than one of the stores: each counts once\n",
                         listing.repeated, listing.repeated == 1 ? " is" : "s are");
  }
  for (const VarianceTable& table : comparison.variance) notes += variance_text(table);
  std::ranges::sort(rows);
  rows.erase(std::ranges::unique(rows).begin(), rows.end());
  notes += common_notes(comparison, true) + tables_note(listing) + provenance_notes(listing, rows);
  return out + (comparison.effects.empty() ? "" : "\n") + printable(notes);
}

}  // namespace depthgrid
