#include "sweeps/compare/compare_report.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sweeps/compare/arms_notes.hpp"
#include "sweeps/compare/number_text.hpp"
#include "sweeps/report/provenance_notes.hpp"

namespace depthgrid {
namespace {

double half_of(const ConfidenceLimits& limits) {
  return (limits.high - limits.low) / 2;
}

std::string limits_text(const ConfidenceLimits& limits, int decimals) {
  if (std::isnan(limits.low)) return "";
  return fmt::format(" [{:.{}f}, {:.{}f}]", limits.low, decimals, limits.high, decimals);
}

std::string difference_of(const ContrastEvidence& evidence) {
  if (evidence.pairs.refused) return "refused";
  if (evidence.unpaired) {
    const MeanDifference& d = *evidence.unpaired;
    return difference_text(d.value, (d.high - d.low) / 2);
  }
  if (evidence.censored) return "-";
  return difference_text(evidence.contrast.mean, half_of(evidence.contrast.interval));
}

std::string interval_of(const ContrastEvidence& evidence) {
  if (evidence.unpaired) {
    return interval_text({evidence.unpaired->low, evidence.unpaired->high}) + " w";
  }
  if (evidence.censored) return {};
  return interval_text(evidence.contrast.interval);
}

std::string verdict_of(const ContrastEvidence& evidence, std::optional<double> margin) {
  if (std::isnan(evidence.p())) return "-";
  if (evidence.verdict == ContrastVerdict::NoEffect) {
    return "no effect beyond " + shortest(margin.value_or(kNaN));
  }
  return std::string(contrast_verdict_text(evidence.verdict));
}

/// A row's columns after the level: those of the effects.
std::vector<std::string> effect_columns(const ComparedRow& row, bool exploratory,
                                        std::optional<double> margin) {
  const bool compared = row.evidence && row.evidence->sample.n > 0;
  const SampleSummary& sample = compared ? row.evidence->sample : row.all;
  std::vector<std::string> out = {mean_text(sample), std::to_string(sample.n)};
  if (!row.evidence) {
    out.resize(exploratory ? 6 : 7);
    return out;
  }
  const ContrastEvidence& evidence = *row.evidence;
  out.push_back(difference_of(evidence));
  out.push_back(interval_of(evidence));
  out.push_back(probability_text(evidence.p()));
  if (!exploratory) out.push_back(probability_text(evidence.holm));
  out.push_back(verdict_of(evidence, margin));
  return out;
}

std::string effects_text(const EffectTable& table, const Comparison& comparison, Colour colour) {
  const bool lacking = std::ranges::any_of(
      table.rows, [](const ComparedRow& row) { return row.group.missing() > 0; });
  const bool tagged = std::ranges::any_of(table.rows, [](const ComparedRow& row) {
    return !row.group.tag.empty() && row.group.tag != row.group.name;
  });
  Table out{{{table.factor}}, {}};
  if (tagged) out.columns.push_back({"tag"});
  out.columns.push_back({"cells", Align::Right});
  if (lacking) out.columns.push_back({"missing"});
  for (const char* title : {"", "n", "difference", "95 % interval", "p", "Holm p", "verdict"}) {
    const std::string name = title;
    if (name == "Holm p" && table.exploratory) continue;
    const bool left = name == "95 % interval" || name == "verdict";
    out.columns.push_back(
        {name.empty() ? comparison.metric : name, left ? Align::Left : Align::Right});
  }
  for (const ComparedRow& row : table.rows) {
    std::vector<std::string> line = {row.group.name + (row.group.baseline ? " *" : "")};
    if (tagged) line.push_back(row.group.tag == row.group.name ? "" : row.group.tag);
    line.push_back(std::to_string(row.group.cells.size()));
    if (lacking) line.push_back(missing_text(row.group.counts));
    for (std::string& entry : effect_columns(row, table.exploratory, comparison.margin)) {
      line.push_back(std::move(entry));
    }
    out.rows.push_back(std::move(line));
  }
  return text_of(out, colour);
}

/// What each pair says beyond the interval and its p; empty if no contrast has two pairs.
std::string evidence_text(const EffectTable& table, Colour colour) {
  Table out{{{table.factor},
             {"all at once"},
             {"sign-flip p", Align::Right},
             {"g"},
             {"improved"},
             {"detectable", Align::Right},
             {"seeds for this", Align::Right}},
            {}};
  for (const ComparedRow& row : table.rows) {
    if (!row.evidence || row.evidence->contrast.n < 2) continue;
    const ContrastEvidence& e = *row.evidence;
    const bool known = std::isfinite(e.seeds_needed);
    out.rows.push_back(
        {row.group.name, interval_text(e.simultaneous), probability_text(e.flips.p),
         std::isnan(e.effect.g)
             ? "-"
             : fmt::format("{:.2f}", e.effect.g) + limits_text(e.effect.g_interval, 2),
         std::isnan(e.improved.share)
             ? "-"
             : fmt::format("{:.2f}", e.improved.share) + limits_text(e.improved.interval, 2),
         std::isnan(e.detectable) ? "-"
                                  : fmt::format("{:.{}f}", e.detectable, decimals_of(e.detectable)),
         known ? fmt::format("{:.0f}", std::ceil(e.seeds_needed)) : "-"});
  }
  return out.rows.empty() ? std::string() : text_of(out, colour);
}

/// "64: reached by 3 of 5 seeds, 5 of the baseline: no mean, …".
std::string censored_text(const ComparedRow& row, const CensoredComparison& c) {
  std::string out =
      fmt::format("{}: target reached by {} of its {} seeds, by {} of the baseline's: no mean{}",
                  row.group.name, c.reached_a, c.pairs, c.reached_b,
                  c.reached_a + c.reached_b == 0 ? "" : "; the p is that of the sign test");
  if (std::isfinite(c.low)) out += fmt::format("; the mean difference is at least {:+.4g}", c.low);
  if (std::isfinite(c.high)) out += fmt::format("; the mean difference is at most {:+.4g}", c.high);
  return out + "\n";
}

/// "64: 2 cells have no partner".
std::string left_out_notes(const EffectTable& table) {
  std::string out;
  for (const ComparedRow& row : table.rows) {
    if (!row.evidence) continue;
    const SeedPairs& pairs = row.evidence->pairs;
    if (pairs.refused) {
      out += fmt::format("no difference for {}: {}{}{}\n", row.group.name, pairs.refused.text(),
                         pairs.refused.advice.empty() ? "" : "; ", pairs.refused.advice);
    }
    if (!row.evidence->compared_with.empty()) {
      out += fmt::format("{}: {}\n", row.group.name, row.evidence->compared_with);
    }
    std::vector<std::string> parts;
    if (!pairs.left_out.empty()) {
      parts.push_back(fmt::format("seeds {} of it alone", seeds_text(pairs.left_out)));
    }
    if (!pairs.baseline_left_out.empty()) {
      parts.push_back(fmt::format("seeds {} of {} alone", seeds_text(pairs.baseline_left_out),
                                  table.baseline_name));
    }
    if (!pairs.unpaired.empty()) {
      parts.push_back(fmt::format("{} cell{} whose partner is missing", pairs.unpaired.size(),
                                  pairs.unpaired.size() == 1 ? "" : "s"));
    }
    if (!parts.empty() && !row.evidence->unpaired) {
      out += fmt::format("{}: left out: {}\n", row.group.name, fmt::join(parts, "; "));
    }
    if (const auto& censored = row.evidence->censored) {
      out += censored_text(row, *censored);
    } else if (row.evidence->contrast.n >= 2 && std::isnan(row.evidence->contrast.p)) {
      const bool finite = std::isfinite(row.evidence->contrast.mean);
      out += fmt::format("{}: {} of its {} seeds {}: no p\n", row.group.name,
                         finite ? "the differences" : "a figure", row.evidence->contrast.n,
                         finite ? "do not vary" : "is infinite");
    }
  }
  return out;
}

std::string trend_text(const EffectTable& table) {
  if (!table.trend) return {};
  const MonotoneTrend& trend = *table.trend;
  return fmt::format(
      "trend over {}, {} seeds: slope {:.3g} per unit [{:.3g}, {:.3g}], p {}; monotone, Page's L: "
      "p {}\n",
      table.factor, table.trend_seeds, trend.slope.mean, trend.slope.interval.low,
      trend.slope.interval.high, probability_text(trend.slope.p), probability_text(trend.p));
}

std::string table_text(const EffectTable& table, const Comparison& comparison, Colour colour) {
  std::string out;
  if (!table.within.empty()) {
    out = fmt::format("at {}{}:\n", table.within, table.exploratory ? " (exploratory)" : "");
  }
  out += effects_text(table, comparison, colour);
  if (!table.exploratory) out += evidence_text(table, colour);
  if (!table.others.empty()) {
    out += fmt::format("a seed is the mean over the combinations of {} that both sides have\n",
                       fmt::join(table.others, ", "));
  }
  if (!table.moving_with.empty()) {
    out +=
        fmt::format("{} differ{} from level to level, too: an effect is of all together\n",
                    fmt::join(table.moving_with, ", "), table.moving_with.size() == 1 ? "s" : "");
  }
  return out + left_out_notes(table) + trend_text(table);
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
                       difference_text(one.contrast.mean, half_of(one.contrast.interval)),
                       interval_text(one.contrast.interval), probability_text(one.contrast.p));
  }
  return out;
}

/// What all tables have in common.
std::string common_notes(const Comparison& comparison) {
  std::size_t pairs = 0, undecided = 0, compared = 0;
  for (const EffectTable& table : comparison.effects) {
    for (const ComparedRow& row : table.rows) {
      if (!row.evidence) continue;
      ++compared;
      if (!std::isnan(row.evidence->p())) pairs = std::max(pairs, row.evidence->contrast.n);
      undecided +=
          !std::isnan(row.evidence->p()) && row.evidence->verdict == ContrastVerdict::Undecided;
    }
  }
  if (compared == 0) return {};
  std::string out =
      "* baseline; difference: level − baseline, of means over the seeds of both (the n pairs)\n";
  if (pairs >= 2) {
    out += fmt::format(
        "p: t test of the pairs; Holm p and `all at once`: of the family of {} contrast{}; "
        "improved: share of seeds\ndetectable: by a single test with power .8, at these seeds; "
        "seeds for this: to detect a difference of this size\n",
        comparison.family, comparison.family == 1 ? "" : "s");
    const double least = std::pow(2.0, 1 - static_cast<double>(pairs));
    if (least >= kVerdictLevel) {
      out += fmt::format("no sign-flip p of {} seeds is below {:.4g}\n", pairs, least);
    }
  }
  if (comparison.margin) {
    out += fmt::format("no effect beyond δ: two one-sided tests that it lies within ± {}\n",
                       shortest(*comparison.margin));
  }
  if (undecided > 0 && !comparison.margin) {
    out += "undecided is not equal: --margin δ asks whether a difference is smaller than δ\n";
  }
  return out;
}

}  // namespace

std::optional<NoContrast> no_contrast(const Listing& listing, const std::vector<std::size_t>& rows,
                                      const Comparison& comparison) {
  std::size_t groups = 0, figures = 0, pairs = 0;
  bool baseline = false, refused = false, infinite = false, censored = false;
  bool unpaired = false;  // cells whose partner in another combination is missing
  for (const EffectTable& table : comparison.effects) {
    groups = std::max(groups, table.rows.size());
    baseline = baseline || table.baseline_selected;
    for (const ComparedRow& row : table.rows) {
      figures += row.all.n;
      if (!row.evidence) continue;
      if (!std::isnan(row.evidence->p())) return std::nullopt;
      pairs = std::max(pairs, row.evidence->contrast.n);
      censored = censored || row.evidence->censored;
      unpaired = unpaired || !row.evidence->pairs.unpaired.empty();
      infinite =
          infinite || (row.evidence->contrast.n > 0 && !std::isfinite(row.evidence->contrast.mean));
      refused = refused || row.evidence->pairs.refused;
    }
  }
  std::array<std::size_t, 7> counts{};
  std::set<std::int64_t> seeds;
  bool open = false;
  for (const std::size_t row : rows) {
    const CellStatus status = listing.cells[row].status;
    ++counts[static_cast<std::size_t>(status)];
    seeds.insert(listing.cells[row].seed);
    open = open || status == CellStatus::Pending || status == CellStatus::Running;
  }
  const std::size_t completed = counts[static_cast<std::size_t>(CellStatus::Completed)];
  const ExitCode code = open ? ExitCode::Unfinished : ExitCode::Partial;
  const std::string missing = missing_text(counts);
  if (rows.empty()) return NoContrast{"no cell is selected", ExitCode::Partial};
  if (completed == 0) {
    return NoContrast{fmt::format("no cell has completed: {}{}", missing,
                                  open ? "; depthgrid run trains them" : ""),
                      code};
  }
  if (figures == 0) {
    return NoContrast{fmt::format("none of the {} completed cells has a number for {}", completed,
                                  comparison.metric),
                      ExitCode::Partial};
  }
  if (groups < 2) {
    return NoContrast{"there is one group only: nothing to compare it with", ExitCode::Partial};
  }
  if (!baseline) {
    const std::string& name = comparison.effects.front().baseline_name;
    return NoContrast{name.empty() ? "this sweep has no baseline: --baseline NAME compares with one"
                                   : "no cell of the baseline " + name + " is selected",
                      ExitCode::Partial};
  }
  if (refused) return NoContrast{"what is there cannot be compared", ExitCode::Partial};
  if (pairs == 1 && seeds.size() == 1) {
    return NoContrast{
        "one seed says nothing of the spread: no interval, no p, no verdict; seeds: 5 "
        "in the sweep file adds some",
        code};
  }
  if (pairs == 1) {
    return NoContrast{"one seed is in both sides: no interval, no p, no verdict", code};
  }
  if (pairs == 0 && unpaired) {
    return NoContrast{"no combination of the other factors has completed in both sides of a pair",
                      code};
  }
  if (pairs == 0) return NoContrast{"no seed has completed in both sides of a pair", code};
  if (censored) {
    return NoContrast{"no seed has reached the target: no mean, no p, no verdict",
                      ExitCode::Partial};
  }
  return NoContrast{infinite ? "a figure is infinite: no mean, no p, no verdict"
                             : "no difference varies over the seeds: no p, no verdict",
                    ExitCode::Partial};
}

std::string comparison_text(const Listing& listing, const Comparison& comparison, Colour colour) {
  std::string out = fmt::format("{}{}: {} is better\n", comparison.metric,
                                comparison.unit.empty() ? "" : " (" + comparison.unit + ")",
                                comparison.goal == "maximize" ? "higher" : "lower");
  if (!comparison.note.empty()) out += comparison.note + "\n";
  if (comparison.sees_future) {
    out += "it is of a pass that sees later tokens: no figure of a language model\n";
  }
  std::vector<std::size_t> rows;
  for (const EffectTable& table : comparison.effects) {
    out += "\n";
    out += table_text(table, comparison, colour);
    for (const ComparedRow& row : table.rows) {
      if (table.within.empty())
        rows.insert(rows.end(), row.group.cells.begin(), row.group.cells.end());
    }
  }
  if (!comparison.effects.empty()) out += "\n";
  if (!comparison.outside.empty()) {
    out += fmt::format("without the leaf of --within, so in no table: {}\n",
                       fmt::join(comparison.outside, ", "));
  }
  for (const VarianceTable& table : comparison.variance) out += variance_text(table);
  std::ranges::sort(rows);
  rows.erase(std::ranges::unique(rows).begin(), rows.end());
  return out + common_notes(comparison) + provenance_notes(listing, rows);
}

}  // namespace depthgrid
