#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/config/sweep.hpp"
#include "storage/store.hpp"
#include "sweeps/live/live_sweep.hpp"
#include "sweeps/plan/structure_cost.hpp"

namespace depthgrid {

/// Tokens of a split of a cell's text; 0 where they are not known.
using SplitTokens = std::function<double(const CellConfig& config, const std::string& split)>;

/// Predicted times of a cell on a team: predicted_times(), with the passes over whole splits
/// (`eval.final_windows: null`), whose lengths a plan does not know.
/// @param costs  times that were not measured are rough ones; of an absent structure nothing is
///               known but its configuration.
PredictedTime team_times(const CellPlan& cell, const CostTable& costs, std::int64_t ranks,
                         const SplitTokens& tokens);

/// The cells of a sweep as its store knows them now, for a display: that of a run and that of a
/// supervisor, which show the same remaining time for the same state.
/// @param ranks  of the team that trains a row, which is not asked of rows that have a result.
std::vector<LiveCell> live_cells(const Sweep& sweep, const Store& store, const CostTable& costs,
                                 const std::function<std::int64_t(std::size_t row)>& ranks,
                                 const SplitTokens& tokens);

}  // namespace depthgrid
