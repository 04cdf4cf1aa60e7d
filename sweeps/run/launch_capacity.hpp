#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "core/config/cell_config.hpp"
#include "sweeps/launch/launcher.hpp"
#include "sweeps/plan/job_plan.hpp"
#include "sweeps/run/supervisor.hpp"

namespace depthgrid {

/// launch_place(), with the MPI that srun has where ranks start by it: srun is asked, for ten
/// seconds at most. @throws UserError (BadConfig)
LaunchPlace asked_place(const CellConfig& run);

/// Ranks that run at the same time, their cards and cores, and how long they may be silent.
/// @param slots  -j; none: what the machine has. @param place  learns how many cards a node has.
/// @param jobs   those that a launch for each card would train.
SupervisorOptions launch_capacity(
    std::optional<std::int64_t> slots, const CellConfig& run, LaunchPlace& place,
    const std::function<std::vector<FusedJob>(std::int64_t slots)>& jobs);

/// Seconds until the end of this task's time on the cluster, by squeue, which is asked for ten
/// seconds at most; NaN outside of an allocation, without a limit, and without an answer.
double allocated_seconds();

}  // namespace depthgrid
