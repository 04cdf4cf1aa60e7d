#include "sweeps/plan/matched_sweep.hpp"

#include <optional>
#include <set>

#include "storage/plan_sequence.hpp"
#include "storage/store.hpp"

namespace depthgrid {
namespace {

std::string configuration_of(const CellConfig& config) {
  return arm_configuration(canonical_json(Value(config.changed())));
}

/// Widths sealed in the plans of a store that still hold: the store has cells of the arm with this
/// width, and of the reference as it is now. A name alone may mean another arm today.
std::vector<MatchedWidth> sealed_widths(const std::filesystem::path& folder, const Sweep& sweep) {
  if (!Store::is_at(folder)) return {};
  const Store store = Store::open(folder);
  if (!has_plan(store)) return {};
  const StoredPlan plan = read_plan(store);
  std::set<std::string> known;
  for (const StoredCell& cell : plan.cells) known.insert(arm_configuration(cell.changed));
  std::vector<MatchedWidth> out;
  for (const MatchGoal& goal : sweep.goals) {
    const MatchedWidth& open = goal.open();
    if (!known.contains(configuration_of(goal.reference().config))) continue;
    for (const MatchedWidth& width : plan.matched) {
      const bool meant = width.arm == open.arm && width.on == open.on && width.leaf == open.leaf;
      const auto arm = meant ? goal.with(width.value) : std::nullopt;
      if (!arm || !known.contains(configuration_of(arm->config))) continue;
      out.push_back(width);
      out.back().sealed = true;
      break;
    }
  }
  return out;
}

}  // namespace

Amounts described_amounts(const DescribeCache& cache) {
  return [cache](MatchOn on, const std::vector<MatchCandidate>& candidates) {
    std::vector<CellPlan> cells;
    for (const MatchCandidate& candidate : candidates) {
      CellPlan& cell = cells.emplace_back();
      cell.structure = candidate.structure;
      cell.config = candidate.config;
    }
    const CostTable costs =
        cache.costs(cells, on == MatchOn::Time ? CostDetail::Times : CostDetail::Counts);
    std::vector<double> out;
    for (const CellPlan& cell : cells) {
      const StructureCost& cost = costs.at(cell.structure);
      out.push_back(on == MatchOn::Parameters ? static_cast<double>(cost.parameters)
                    : on == MatchOn::Flops    ? expected_flops(cost, cell.config)
                                              : cost.seconds_per_cell_step);
    }
    return out;
  };
}

Sweep matched_sweep(const SweepRequest& request, const std::filesystem::path& store,
                    const Amounts& amounts, MatchEffort effort) {
  Sweep sweep = load_sweep(request);
  if (sweep.goals.empty()) return sweep;
  SweepRequest full = request;
  full.matched = sealed_widths(store, sweep);
  // The sweep.yaml of another store: a copy has the widths of the original.
  if (full.matched.empty() && request.file.has_parent_path()) {
    full.matched = sealed_widths(request.file.parent_path(), sweep);
  }
  if (!full.matched.empty()) sweep = load_sweep(full);
  if (sweep.goals.empty()) return sweep;
  full.matched = sweep.matched;
  for (const MatchGoal& goal : sweep.goals) {
    if (effort == MatchEffort::Counts && goal.open().on == MatchOn::Time) continue;
    full.matched.push_back(solve_width(goal, amounts));
  }
  return load_sweep(full);
}

}  // namespace depthgrid
