#pragma once

#include <array>
#include <string>
#include <vector>

#include "sweeps/compare/arms.hpp"

namespace depthgrid {

/// "1 diverged, 2 pending" of cells counted by CellStatus; empty if all have completed.
std::string missing_text(const std::array<std::size_t, 7>& counts);

/// "0, 1, 2": seeds as a list, shortened where there are many.
std::string seeds_text(const std::vector<std::int64_t>& seeds);

/// Whether a shown difference leaves out a cell of one of its arms.
bool leaves_seeds_out(const ArmComparison& comparison, const std::vector<std::string>& metrics);

/// The lines below a table of arms: what its columns are, of which seeds, what is not compared and
/// why, and how many cells the means lack.
/// @param metrics  that the table shows.
std::string arms_notes(const Listing& listing, const ArmComparison& comparison,
                       const std::vector<std::string>& metrics);

}  // namespace depthgrid
