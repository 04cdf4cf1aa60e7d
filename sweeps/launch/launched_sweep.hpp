#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/config/sweep.hpp"
#include "storage/store.hpp"
#include "sweeps/launch/launch_plan.hpp"
#include "sweeps/live/live_sweep.hpp"

namespace depthgrid {

/// A sweep as the display of a supervisor shows it, with the plan of its launches: each job on the
/// ranks of its launch.
/// @param slots  ranks at the same time.
/// @param named  ids of the cells of a task, which shows no others; empty: all.
LiveSweep launched_sweep(const Sweep& sweep, const Store& store, const CostTable& costs,
                         const std::vector<LaunchPlan>& launches, std::int64_t slots,
                         const std::vector<std::string>& named);

}  // namespace depthgrid
