#include "sweeps/compare/compare_notes.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sweeps/compare/arms_notes.hpp"
#include "sweeps/compare/number_text.hpp"

namespace depthgrid {
namespace {

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

}  // namespace

std::string left_out_notes(const EffectTable& table) {
  std::string out;
  for (const ComparedRow& row : table.rows) {
    if (!row.evidence) continue;
    const SeedPairs& pairs = row.evidence->pairs;
    if (pairs.refused) {
      out += fmt::format("no difference for {}: {}\n", row.group.name,
                         pairs.refused.text_and_advice());
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
    } else if (row.evidence->shares_measurements()) {
      out += fmt::format(
          "{}: its {} pairs are of {} measurement{} of time, as seeds of one fused job share one: "
          "no "
          "interval, no p\n",
          row.group.name, pairs.seeds.size(), row.evidence->measurements,
          row.evidence->measurements == 1 ? "" : "s");
    } else if (row.evidence->contrast.n >= 2 && std::isnan(row.evidence->contrast.p)) {
      const bool finite = std::isfinite(row.evidence->contrast.mean);
      out += fmt::format("{}: {} of its {} seeds {}: no p\n", row.group.name,
                         finite ? "the differences" : "a figure", row.evidence->contrast.n,
                         finite ? "do not vary" : "is infinite");
    }
  }
  return out;
}

std::string without_figure_note(const Comparison& comparison) {
  constexpr std::size_t kMost = 6;
  const std::vector<std::string>& cells = comparison.without_figure;
  if (!comparison.lacking.empty() || cells.empty()) return {};  // reported by its own note
  const std::vector<std::string> first(
      cells.begin(), cells.begin() + static_cast<std::ptrdiff_t>(std::min(kMost, cells.size())));
  return fmt::format("completed, but {} is NaN or missing (no finite number), so left out: {}{}\n",
                     comparison.metric, fmt::join(first, "; "),
                     cells.size() > kMost ? fmt::format(" and {} more", cells.size() - kMost) : "");
}

std::string other_questions_note(const Listing& listing, const Comparison& comparison) {
  std::vector<std::string> parts;
  for (const StoreQuestion& other : listing.other_questions) {
    const bool metric = other.metric != listing.metric && !comparison.metric_named;
    const bool goal = other.metric == listing.metric && !comparison.goal_named &&
                      (comparison.metric == listing.metric || !comparison.metric_named);
    if (!metric && !goal) continue;
    parts.push_back(fmt::format("{} is about {} ({})", listing.stores.at(other.store), other.metric,
                                other.goal));
  }
  if (parts.empty()) return {};
  const auto first = std::ranges::find_if(listing.stores, [&listing](const std::string& store) {
    return std::ranges::find(listing.tables, store) == listing.tables.end();
  });
  return fmt::format(
      "{}; the question here is that of {}: {} ({}); --metric and --goal name "
      "another\n",
      fmt::join(parts, ", "), *first, listing.metric, listing.goal);
}

std::string common_notes(const Comparison& comparison, bool marks) {
  constexpr std::size_t kFewPairs = 3;
  std::size_t pairs = 0, fewest = kFewPairs + 1, undecided = 0, compared = 0;
  for (const EffectTable& table : comparison.effects) {
    for (const ComparedRow& row : table.rows) {
      if (!row.evidence) continue;
      ++compared;
      if (!std::isnan(row.evidence->p())) {
        pairs = std::max(pairs, row.evidence->contrast.n);
        fewest = std::min(fewest, row.evidence->contrast.n);
      }
      undecided +=
          !std::isnan(row.evidence->p()) && row.evidence->verdict == ContrastVerdict::Undecided;
    }
  }
  if (compared == 0) return {};
  std::string out = marks ? "* baseline; " : "";
  out += "difference: level − baseline, of means over the seeds of both (the n pairs)\n";
  if (pairs >= 2) {
    out += fmt::format(
        "p: t test of the pairs; Holm p and {}: of the family of {} contrast{} (all of --by "
        "{}{}{})\n"
        "improved: share of seeds; of a single test with power .8, before Holm's correction: "
        "detectable at these seeds, and the seeds for this, to detect a difference of this size\n",
        marks ? "`all at once`" : "all at once", comparison.family,
        comparison.family == 1 ? "" : "s", fmt::join(comparison.by, ", "),
        comparison.within.empty() ? "" : ", at each level of " + comparison.within,
        comparison.exploratory ? ", of this call alone: exploratory" : "");
    if (fewest <= kFewPairs) {
      out += fmt::format(
          "an interval of {} seeds is wide, and rests on differences that are normally "
          "distributed\n",
          fewest);
    }
    const double least = std::pow(2.0, 1 - static_cast<double>(pairs));
    if (least >= kVerdictLevel) {
      out += fmt::format("no sign-flip p of {} seeds is below {}\n", pairs,
                         exact_probability_text(least));
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

}  // namespace depthgrid
