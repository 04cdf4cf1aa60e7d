#pragma once

#include <vector>

#include "core/config/sweep.hpp"
#include "core/config/sweep/grid.hpp"

namespace depthgrid {

/// Where the written leaves of a resolved arm come from, in the order of the schema.
/// @param document  its place is in the sweep file itself, not in a base.
std::vector<LeafSource> leaf_sources(const Slots& slots, const SweepDocument& document,
                                     const Diagnostics& diagnostics);

}  // namespace depthgrid
