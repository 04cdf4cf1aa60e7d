#include "sweeps/live/live_cells.hpp"

#include "storage/hdf5/checkpoint.hpp"
#include "sweeps/plan/team_size.hpp"

namespace depthgrid {

PredictedTime team_times(const CellPlan& cell, const CostTable& costs, std::int64_t ranks,
                         const SplitTokens& tokens) {
  const CellConfig& config = cell.config;
  const auto cost = costs.find(cell.structure);
  StructureCost timed = cost == costs.end() ? StructureCost{} : cost->second;
  const bool measured = timed.seconds_per_cell_step > 0 || timed.seconds_per_eval_token > 0;
  if (!measured) set_rough_times(timed, config);
  PredictedTime out = predicted_times(config, timed);
  out.training = team_seconds(out.training, ranks);
  if (!config.null("eval.final_windows")) return out;
  for (const std::string& split : config.words("eval.final_splits")) {
    out.ending += tokens(config, split) * final_passes(config) * timed.seconds_per_eval_token;
  }
  return out;
}

std::vector<LiveCell> live_cells(const Sweep& sweep, const Store& store, const CostTable& costs,
                                 const std::function<std::int64_t(std::size_t row)>& ranks,
                                 const SplitTokens& tokens) {
  std::vector<LiveCell> out;
  for (std::size_t row = 0; row < sweep.cells.size(); ++row) {
    const CellPlan& plan = sweep.cells[row];
    LiveCell& cell = out.emplace_back();
    cell.alias = plan.alias;
    cell.structure = plan.structure;
    cell.steps = plan.config.integer("train.steps");
    cell.done = store.completed(plan.id);
    if (cell.done) continue;
    cell.predicted = team_times(plan, costs, ranks(row), tokens);
    cell.made = newest_step(store.cell_path(plan.id), store.fs());
  }
  return out;
}

}  // namespace depthgrid
