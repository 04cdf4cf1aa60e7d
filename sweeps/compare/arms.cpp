#include "sweeps/compare/arms.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/error.hpp"

namespace depthgrid {
namespace {

struct SeedValue {
  std::size_t row;  // of the listing
  double value;
};
using ValueBySeed = std::map<std::int64_t, SeedValue>;

/// The arm that the text names.
std::string named_arm(const Listing& listing, std::string_view text) {
  std::set<std::string> exact, beginning, all;
  for (const CellSummary& cell : listing.cells) {
    all.insert(cell.arm);
    if (cell.arm == text || cell.tag == text) exact.insert(cell.arm);
    if (cell.arm.starts_with(text) || cell.tag.starts_with(text)) beginning.insert(cell.arm);
  }
  const std::set<std::string>& found = exact.empty() ? beginning : exact;
  if (found.size() == 1) return *found.begin();
  throw UserError(
      ExitCode::Usage,
      found.empty()
          ? fmt::format("no arm or tag begins with '{}'; arms are: {}", text, fmt::join(all, "; "))
          : fmt::format("'{}' means several arms: {}", text, fmt::join(found, "; ")));
}

std::string own_baseline(const Listing& listing) {
  for (std::size_t row = 0; row < listing.cells.size(); ++row) {
    if (listing.baseline[row]) return listing.cells[row].arm;
  }
  return {};
}

/// A metric in the completed cells of an arm, by seed; of cells with one seed, the first counts.
ValueBySeed values_by_seed(const Listing& listing, const ArmResults& arm, const std::string& name) {
  ValueBySeed out;
  for (const std::size_t row : arm.cells) {
    const CellSummary& cell = listing.cells[row];
    const auto at = cell.metrics.find(name);
    if (cell.status != CellStatus::Completed || at == cell.metrics.end()) continue;
    if (!std::isnan(at->second)) out.emplace(cell.seed, SeedValue{row, at->second});
  }
  return out;
}

std::vector<double> values_of(const ValueBySeed& by_seed) {
  std::vector<double> out;
  for (const auto& [seed, one] : by_seed) out.push_back(one.value);
  return out;
}

void add_rows(const ValueBySeed& values, std::vector<std::size_t>& to) {
  for (const auto& [seed, one] : values) to.push_back(one.row);
}

/// Why arms without a common seed cannot be compared: all cells must have one basis.
BasisMismatch mismatch_of_all(const EvaluationBasis& basis, const ValueBySeed& mine,
                              const ValueBySeed& theirs) {
  std::vector<std::size_t> rows;
  add_rows(theirs, rows);
  add_rows(mine, rows);
  auto found = basis.mismatch_among(rows);
  return found ? std::move(found->second) : BasisMismatch();
}

/// Why the figures of one arm have no mean.
BasisMismatch mismatch_within(const EvaluationBasis& basis, const ValueBySeed& values) {
  return mismatch_of_all(basis, {}, values);
}

/// Sets the difference of two arms in one metric, or why there is none.
void compare(const EvaluationBasis& basis, const ValueBySeed& mine, const ValueBySeed& theirs,
             ArmMetric& out) {
  if (mine.empty() || theirs.empty()) return;
  std::vector<double> a, b;
  for (const auto& [seed, one] : mine) {
    const auto other = theirs.find(seed);
    if (other == theirs.end()) {
      out.left_out.push_back(seed);
      continue;
    }
    if (auto found = basis.mismatch(one.row, other->second.row)) {
      out.left_out.clear();
      out.pairs.clear();
      out.refused = std::move(found);
      return;
    }
    out.pairs.push_back(seed);
    a.push_back(one.value);
    b.push_back(other->second.value);
  }
  if (out.pairs.empty()) {
    out.left_out.clear();
    out.refused = mismatch_of_all(basis, mine, theirs);
    if (out.refused) return;
    out.difference = welch_difference(values_of(mine), values_of(theirs));
    out.baseline = summary_of(values_of(theirs));
    return;
  }
  for (const auto& [seed, other] : theirs) {
    if (!mine.contains(seed)) out.baseline_left_out.push_back(seed);
  }
  out.difference = paired_difference(a, b);
  out.sample = summary_of(a);
  out.baseline = summary_of(b);
}

/// Names of the metrics that completed cells recorded or had to lack, and the sweep's own.
std::set<std::string> recorded_metrics(const Listing& listing,
                                       const std::vector<std::size_t>& cells) {
  std::set<std::string> out;
  if (!listing.metric.empty()) out.insert(listing.metric);
  for (const std::size_t row : cells) {
    if (listing.cells[row].status != CellStatus::Completed) continue;
    for (const auto& [name, value] : listing.cells[row].metrics) out.insert(name);
    if (row >= listing.withheld.size()) continue;
    out.insert(listing.withheld[row].begin(), listing.withheld[row].end());
  }
  return out;
}

}  // namespace

ArmComparison compare_arms(const Listing& listing, const std::vector<std::size_t>& cells,
                           std::string_view baseline) {
  ArmComparison out;
  out.baseline = baseline.empty() ? own_baseline(listing) : named_arm(listing, baseline);
  std::vector<std::size_t> rows = cells;
  std::ranges::sort(rows);
  std::map<std::string, std::size_t> index;
  for (const std::size_t row : rows) {
    const CellSummary& cell = listing.cells[row];
    const auto [at, fresh] = index.emplace(cell.arm, out.arms.size());
    if (fresh) out.arms.emplace_back();
    ArmResults& arm = out.arms[at->second];
    arm.arm = cell.arm;
    arm.baseline = cell.arm == out.baseline;
    if (arm.tag.empty()) arm.tag = cell.tag;
    arm.cells.push_back(row);
    arm.seeds.push_back(cell.seed);
    ++arm.counts[static_cast<std::size_t>(cell.status)];
  }
  for (ArmResults& arm : out.arms) {
    std::ranges::sort(arm.seeds);
    for (std::size_t i = 1; i < arm.seeds.size(); ++i) {
      arm.repeated += arm.seeds[i] == arm.seeds[i - 1] ? 1 : 0;
    }
  }
  const auto reference = std::ranges::find(out.arms, true, &ArmResults::baseline);
  out.baseline_selected = reference != out.arms.end();
  for (const std::string& name : recorded_metrics(listing, rows)) {
    const EvaluationBasis basis(listing, name);
    ValueBySeed theirs =
        out.baseline_selected ? values_by_seed(listing, *reference, name) : ValueBySeed{};
    if (mismatch_within(basis, theirs)) theirs.clear();
    for (ArmResults& arm : out.arms) {
      const ValueBySeed mine = values_by_seed(listing, arm, name);
      ArmMetric& metric = arm.metrics[name];
      metric.mixed = mismatch_within(basis, mine);
      if (metric.mixed) continue;
      metric.sample = metric.all = summary_of(values_of(mine));
      if (!arm.baseline) compare(basis, mine, theirs, metric);
    }
  }
  return out;
}

}  // namespace depthgrid
