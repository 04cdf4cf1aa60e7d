#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/config/sweep.hpp"
#include "storage/store.hpp"
#include "sweeps/live/live_sweep.hpp"
#include "sweeps/plan/job_plan.hpp"

namespace depthgrid {

/// What one launch trains: one fused job, or several short ones after each other.
struct LaunchPlan {
  std::string id;                  // job_id() of its cells
  std::vector<std::size_t> rows;   // into Sweep::cells
  std::vector<std::string> cells;  // their ids
  std::int64_t ranks = 1;
  double seconds = 0;                // predicted; NaN = unknown
  double bytes = 0;                  // of the largest job; NaN = unknown
  std::vector<std::size_t> after{};  // launches whose cells these start from
  std::vector<std::size_t> jobs{};   // cells of each job, in the order of `rows`
};

/// Puts jobs of the same number of ranks, in their order, into launches.
/// @param per_launch  leaf packing.cells_per_launch: jobs of one launch; none = auto: as many as
///                    take about a minute together, while every slot still gets four launches.
std::vector<LaunchPlan> plan_launches(const std::vector<FusedJob>& jobs,
                                      const std::vector<CellPlan>& cells, std::int64_t slots,
                                      std::optional<std::int64_t> per_launch);

/// A launch that fails again and again, taken apart so that its culprit stands alone: one launch
/// for each job of several, else for each cell of a fused job. Empty if it has a single cell.
std::vector<LaunchPlan> parts_of(const LaunchPlan& launch);

/// The same of one that does not fit in memory: a fused job alone becomes two halves.
std::vector<LaunchPlan> smaller_parts_of(const LaunchPlan& launch);

/// A sweep as the display of a supervisor shows it, with the plan of its launches: each job on the
/// ranks of its launch.
/// @param slots  ranks at the same time.
/// @param named  ids of the cells of a task, which shows no others; empty: all.
LiveSweep launched_sweep(const Sweep& sweep, const Store& store, const CostTable& costs,
                         const std::vector<LaunchPlan>& launches, std::int64_t slots,
                         const std::vector<std::string>& named);

}  // namespace depthgrid
