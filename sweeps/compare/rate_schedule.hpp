#pragma once

#include <cstddef>

#include "sweeps/report/listing.hpp"

namespace depthgrid {

/// Whether the learning rate of a cell still changes after this step, by train.schedule: in its
/// warm-up, or before the end of its decay. True where the schedule is not known.
bool rate_changes_after(const Listing& listing, std::size_t row, double step);

}  // namespace depthgrid
