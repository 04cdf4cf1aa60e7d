#include "sweeps/plan/matched_sweep.hpp"

#include "storage/plan_file.hpp"

namespace depthgrid {
namespace {

/// Widths sealed in the plan of a store; none without a plan.
std::vector<MatchedWidth> sealed_widths(const std::filesystem::path& folder) {
  if (!std::filesystem::exists(folder / "STORE.json")) return {};
  const Store store = Store::open(folder);
  if (!has_plan(store)) return {};
  std::vector<MatchedWidth> widths = read_plan(store).matched;
  for (MatchedWidth& width : widths) width.sealed = true;
  return widths;
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
  full.matched = sealed_widths(store);
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
