#include "sweeps/report/sweep_numbers.hpp"

#include <algorithm>
#include <cmath>

namespace depthgrid {

double SweepNumbers::eta() const {
  if (std::isfinite(remaining)) return remaining;
  if (steps_left == 0) return 0;
  return rate > 0 ? static_cast<double>(steps_left) / rate : kNaN;
}

SweepNumbers sweep_numbers(const Listing& listing) {
  SweepNumbers out;
  for (const CellSummary& cell : listing.cells) {
    out.used += cell.cost.seconds;
    out.lost += cell.cost.lost;
    if (!cell.in_plan) continue;
    out.cell_steps += cell.steps;
    const bool over = is_result(cell.status) || is_failure(cell.status);
    const std::int64_t made = over ? cell.steps : std::min(cell.step, cell.steps);
    out.cell_steps_done += made;
    out.steps_left += cell.steps - made;
  }
  return out;
}

}  // namespace depthgrid
