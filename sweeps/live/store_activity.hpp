#pragma once

#include "storage/store.hpp"
#include "sweeps/report/sweep_numbers.hpp"

namespace depthgrid {

/// What the runs that are at work in a store tell on their boards (live/, see LiveBoard).
struct StoreActivity {
  std::int64_t runs = 0, jobs = 0, cells = 0;  // cells of these jobs
  double rate = 0;  // cell-steps per second of these jobs, those that have made a step
};

/// Reads the boards; those of runs that have surely died are passed over. Changes nothing.
StoreActivity store_activity(const Store& store);

/// Numbers of a listing with the activity and the open orders of its store, if there is one. The
/// rate leaves out cells of a job that were cancelled while the others go on.
SweepNumbers numbers_now(const Listing& listing, const Store* store);

}  // namespace depthgrid
