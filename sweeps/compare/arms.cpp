#include "sweeps/compare/arms.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "core/base/nan.hpp"
#include "storage/columns/variables.hpp"
#include "sweeps/compare/seed_pairs.hpp"
#include "sweeps/compare/time_origins.hpp"
#include "sweeps/compare/training_basis.hpp"

namespace depthgrid {
namespace {

/// A metric in the completed cells of an arm, by seed; of cells with one seed, the first counts.
GroupFigures figures_of(const Listing& listing, const Design& design, const ComparedGroup& arm,
                        const std::string& name) {
  return group_figures(listing, design, arm, [&](std::size_t row) {
    const auto& metrics = listing.cells[row].metrics;
    const auto at = metrics.find(name);
    return at == metrics.end() ? kNaN : at->second;
  });
}

/// Why arms without a common seed cannot be compared: all cells must have one basis.
BasisMismatch mismatch_of_all(const EvaluationBasis& basis, const GroupFigures& mine,
                              const GroupFigures& theirs) {
  std::vector<std::size_t> rows = rows_of(theirs);
  std::ranges::copy(rows_of(mine), std::back_inserter(rows));
  auto found = basis.mismatch_among(rows);
  return found ? std::move(found->second) : BasisMismatch();
}

/// Why the figures of one arm have no mean.
BasisMismatch mismatch_within(const EvaluationBasis& basis, const GroupFigures& figures) {
  return mismatch_of_all(basis, {}, figures);
}

/// What decides whether figures of one metric can be subtracted.
struct MetricRules {
  const Listing& listing;
  const EvaluationBasis& basis;
  const std::vector<std::string>& allowed_leaves;  // see training_mismatch()
  const TimeOrigins& times;  // of no rows unless the metric is a measured time
};

void without_interval(MeanDifference& difference) {
  difference.low = difference.high = difference.degrees = kNaN;
}

/// Sets the difference of two arms in one metric, or why there is none.
void compare(const MetricRules& rules, const GroupFigures& mine, const GroupFigures& theirs,
             ArmMetric& out) {
  if (mine.empty() || theirs.empty()) return;
  const auto mismatch = [&](std::size_t a, std::size_t b) {
    BasisMismatch found = rules.basis.mismatch(a, b);
    if (!found) found = machine_mismatch(rules.times, a, b);
    return found ? found : training_mismatch(rules.listing, a, b, rules.allowed_leaves);
  };
  SeedPairs pairs = seed_pairs(mine, theirs, equal_combinations(mine, theirs), mismatch);
  out.refused = std::move(pairs.refused);
  if (out.refused) return;
  if (pairs.seeds.empty()) {
    out.refused = mismatch_of_all(rules.basis, mine, theirs);
    std::vector<std::size_t> cells = rows_of(mine);
    const std::size_t own = cells.size();
    std::ranges::copy(rows_of(theirs), std::back_inserter(cells));
    for (std::size_t i = 0; i < cells.size() && !out.refused; ++i) {
      out.refused = machine_mismatch(rules.times, i < own ? cells[i] : cells[0],
                                     i < own ? cells[own] : cells[i]);
    }
    if (!out.refused) {
      out.refused = training_mismatch(rules.listing, cells[0], cells[own], rules.allowed_leaves);
    }
    if (out.refused) return;
    out.difference = welch_difference(averages_of(mine), averages_of(theirs));
    if (share_measurements(rules.times, cells)) without_interval(*out.difference);
    out.baseline = summary_of(averages_of(theirs));
    return;
  }
  out.difference = paired_difference(pairs.mine, pairs.theirs);
  out.measurements = independent_pairs(rules.times, pairs);
  if (out.measurements < pairs.seeds.size()) without_interval(*out.difference);
  out.sample = summary_of(pairs.mine);
  out.baseline = summary_of(pairs.theirs);
  out.pairs = std::move(pairs.seeds);
  out.left_out = std::move(pairs.left_out);
  out.baseline_left_out = std::move(pairs.baseline_left_out);
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
                           std::string_view baseline, const std::vector<std::string>& allowed,
                           bool times) {
  check_allowed_words(allowed);
  const Design design = design_of(listing, cells, "arm", baseline);
  ArmComparison out;
  out.baseline = design.baseline_name;
  out.baseline_selected = design.baseline.has_value();
  for (const ComparedGroup& group : design.groups) {
    ArmResults& arm = out.arms.emplace_back(group);
    for (const std::size_t row : arm.cells) arm.seeds.push_back(listing.cells[row].seed);
    std::ranges::sort(arm.seeds);
    for (std::size_t i = 1; i < arm.seeds.size(); ++i) {
      arm.repeated += arm.seeds[i] == arm.seeds[i - 1] ? 1 : 0;
    }
  }
  std::vector<std::string> allowed_leaves = leaves_of_arms(listing);
  allowed_leaves.insert(allowed_leaves.end(), allowed.begin(), allowed.end());
  const std::set<std::string> names = recorded_metrics(listing, cells);
  const bool timed = times && std::ranges::any_of(names, is_measured_time);
  const TimeOrigins measured = timed ? read_time_origins(listing, cells) : TimeOrigins(), none;
  for (const std::string& name : names) {
    const EvaluationBasis basis(listing, name);
    GroupFigures theirs;
    if (design.baseline) {
      theirs = figures_of(listing, design, design.groups[*design.baseline], name);
    }
    if (mismatch_within(basis, theirs)) theirs.clear();
    for (ArmResults& arm : out.arms) {
      const GroupFigures mine = figures_of(listing, design, arm, name);
      ArmMetric& metric = arm.metrics[name];
      metric.mixed = mismatch_within(basis, mine);
      if (metric.mixed) continue;
      metric.sample = metric.all = summary_of(averages_of(mine));
      if (arm.baseline || (!times && is_measured_time(name))) continue;
      const MetricRules rules{listing, basis, allowed_leaves,
                              is_measured_time(name) ? measured : none};
      compare(rules, mine, theirs, metric);
    }
  }
  return out;
}

bool shows_times(const Listing& listing, std::vector<std::string> columns, std::string_view sort) {
  if (columns.empty() || !listing.matched.empty())
    return true;  // all, or the costs of matched arms
  if (!sort.empty()) columns.emplace_back(sort.substr(sort[0] == '-' ? 1 : 0));
  return std::ranges::any_of(columns, [](std::string_view word) {
    const bool whole = find_variable(word.substr(0, word.find('.'))) != nullptr;
    return !whole || is_measured_time(word);
  });
}

}  // namespace depthgrid
