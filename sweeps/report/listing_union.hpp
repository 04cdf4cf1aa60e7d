#pragma once

#include <vector>

#include "sweeps/report/listing.hpp"

namespace depthgrid {

/// The cells of several stores as one listing; name, metric, goal and matched widths are those of
/// the first that is no table.
///
/// A cell that two stores have is one cell: it counts where it has completed, else where it was
/// first. A leaf in which the stores differ varies then, though no one of them varies it: every
/// cell has it among its overrides. Of one listing, it is that.
/// @throws UserError (Usage) for none.
Listing listing_union(std::vector<Listing> listings);

}  // namespace depthgrid
