#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/nan.hpp"
#include "sweeps/report/listing.hpp"

namespace depthgrid {

/// How far a sweep is, and what it has cost. Steps are those of the cells of the plan asked for.
struct SweepNumbers {
  std::int64_t cell_steps = 0, cell_steps_done = 0;  // a cell that has ended has made all
  std::int64_t steps_left = 0;                       // of cells that are pending or running
  double used = 0, lost = 0;                         // s × ranks of all attempts: AttemptCost
  double slots = 0, idle = 0;                        // s of supervisors' slots; without a launch
  bool slots_are_cards = false;
  std::int64_t runs = 0, jobs = 0;    // that are at work, as far as they report
  double rate = kNaN;                 // cell-steps/s of these; NaN = not known
  double remaining = kNaN;            // s, by what they report (numbers_now()); NaN = not known
  std::vector<std::string> stopping;  // aliases of cells that are asked to stop

  /// Seconds until the end: `remaining`, else that of the steps that are left at the present rate;
  /// 0 if there are none, NaN while it is not known.
  double eta() const;
};

/// Everything but the activity.
SweepNumbers sweep_numbers(const Listing& listing);

}  // namespace depthgrid
