#pragma once

#include <string>
#include <vector>

#include "core/config/sweep.hpp"

namespace depthgrid {

/// One flag per cell: those that a condition selects (sweeps/report/filter.hpp; empty: all), and
/// the cells from whose weights these start, which must be trained before.
/// @throws UserError (Usage) if the condition is wrong or selects no cell.
std::vector<bool> chosen_cells(const Sweep& sweep, const std::string& filter);

}  // namespace depthgrid
