#include "sweeps/compare/no_contrast.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <set>

#include <fmt/format.h>

#include "sweeps/compare/arms_notes.hpp"
#include "sweeps/report/no_match.hpp"

namespace depthgrid {

namespace {

/// Why there is one group, or none.
std::string one_group_text(const Listing& listing) {
  std::string out = "there is one group only: nothing to compare it with";
  for (std::size_t store = 0; store < listing.stores.size(); ++store) {
    if (std::ranges::find(listing.store_of_cell, store) != listing.store_of_cell.end()) continue;
    out += fmt::format("; all cells of {} are in the other stores, too, and count once",
                       listing.stores[store]);
    break;
  }
  return out;
}

/// Results of cells that do not take part, as they are of other plans; empty if there are none.
std::string other_results_text(const Listing& listing) {
  const std::size_t n = listing.results_not_shown;
  if (n == 0) return {};
  return fmt::format("; {} cell{} of other plans {} a result: --all-plans compares {}", n,
                     n == 1 ? "" : "s", n == 1 ? "has" : "have", n == 1 ? "it" : "them");
}

/// Why no cell of the baseline takes part, and what to do.
std::string no_baseline_text(const Comparison& comparison, bool filtered) {
  const std::string& name = comparison.effects.front().baseline_name;
  if (name.empty()) return "this sweep has no baseline: --baseline NAME compares with one";
  if (!filtered) return "no cell of the baseline " + name + " is beside another group";
  return comparison.baseline_named
             ? fmt::format("the filter leaves no cell of {}, which --baseline names", name)
             : fmt::format(
                   "the filter leaves no cell of {}, the sweep's baseline: --baseline NAME "
                   "compares with another one",
                   name);
}

}  // namespace

std::optional<NoContrast> no_contrast(const Listing& listing, const std::vector<std::size_t>& rows,
                                      const Comparison& comparison, const std::string& filter) {
  std::size_t groups = 0, figures = 0, pairs = 0;
  std::string refused;  // the first refusal
  bool baseline = false, infinite = false, censored = false;
  bool shared = false;    // pairs that share a measurement of time
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
      shared = shared || row.evidence->shares_measurements();
      unpaired = unpaired || !row.evidence->pairs.unpaired.empty();
      infinite =
          infinite || (row.evidence->contrast.n > 0 && !std::isfinite(row.evidence->contrast.mean));
      const BasisMismatch& mismatch = row.evidence->pairs.refused;
      if (mismatch && refused.empty()) {
        refused = mismatch.text_and_advice();
      }
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
  if (rows.empty()) {
    return NoContrast{filter.empty() ? "no cell is selected" : no_match_text(listing, filter),
                      ExitCode::Partial};
  }
  if (completed == 0) {
    return NoContrast{
        fmt::format("no cell has completed: {}{}{}", missing,
                    open ? "; depthgrid run trains them" : "", other_results_text(listing)),
        code};
  }
  if (figures == 0) {
    return NoContrast{
        fmt::format("none of the {} completed cells has a number for {}{}{}", completed,
                    comparison.metric, comparison.lacking.empty() ? "" : ": ", comparison.lacking),
        ExitCode::Partial};
  }
  if (groups < 2) {
    return NoContrast{one_group_text(listing), ExitCode::Partial};
  }
  if (!baseline) {
    return NoContrast{no_baseline_text(comparison, rows.size() < listing.cells.size()),
                      ExitCode::Partial};
  }
  if (!refused.empty()) {
    return NoContrast{"what is there cannot be compared: " + refused, ExitCode::Partial};
  }
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
    const bool of_arms = comparison.effects.front().factor == "arm";
    return NoContrast{
        fmt::format("no combination of the other factors has completed in both sides of a pair{}",
                    of_arms ? "" : "; --by arm compares arms as they are"),
        code};
  }
  if (pairs == 0) return NoContrast{"no seed has completed in both sides of a pair", code};
  if (shared) {
    return NoContrast{
        "seeds of one fused job share one measurement of time: no interval, no p, no verdict; "
        "packing: {fuse: off} in the sweep file, in a new store, measures each seed for itself",
        ExitCode::Partial};
  }
  if (censored) {
    return NoContrast{"no seed has reached the target: no mean, no p, no verdict",
                      ExitCode::Partial};
  }
  return NoContrast{infinite ? "a figure is infinite: no mean, no p, no verdict"
                             : "no difference varies over the seeds: no p, no verdict",
                    ExitCode::Partial};
}

}  // namespace depthgrid
