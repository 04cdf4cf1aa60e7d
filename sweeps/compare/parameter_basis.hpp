#pragma once

#include <cstddef>
#include <optional>

#include "sweeps/report/evaluation_basis.hpp"
#include "sweeps/report/listing.hpp"

namespace depthgrid {

/// Of cells that are to be equal in trainable parameters: how far apart two are, and the block of
/// the sweep file (`match:`) that makes them equal.
/// @param tolerance  the share that is allowed; nothing: any.
BasisMismatch parameter_mismatch(const Listing& listing, std::size_t mine, std::size_t theirs,
                                 std::optional<double> tolerance);

}  // namespace depthgrid
