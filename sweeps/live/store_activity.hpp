#pragma once

#include <cstdint>
#include <vector>

#include "storage/store.hpp"
#include "sweeps/live/live_event.hpp"
#include "sweeps/plan/describe_cache.hpp"
#include "sweeps/report/sweep_numbers.hpp"

namespace depthgrid {

/// What the runs that are at work in a store report in their channels (live/, see ProgressChannel).
struct StoreActivity {
  std::int64_t runs = 0, jobs = 0, cells = 0;  // cells of these jobs
  double rate = 0;  // cell-steps per second of these jobs, those that have made a step
  /// What all ranks have reported, each in its order; `rank` counts those of all runs. A rank that
  /// leads no team reports nothing.
  std::vector<LiveEvent> events{};
  int ranks = 0;
};

/// Reads the channels; those of runs that have surely died are passed over. Changes nothing.
StoreActivity store_activity(const Store& store);

/// Numbers of a listing with the activity and the open requests of its store, if there is one. The
/// rate leaves out cells of a job that were cancelled while the others go on. The remaining time is
/// that of a display (LiveSweep) to which all runs report, if each cell that is left is a job.
/// @param costs  where measured times of structures are kept.
SweepNumbers numbers_now(const Listing& listing, const Store* store,
                         const DescribeCache& costs = DescribeCache());

}  // namespace depthgrid
