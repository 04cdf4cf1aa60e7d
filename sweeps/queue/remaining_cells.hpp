#pragma once

#include <string>
#include <vector>

#include "core/config/sweep.hpp"
#include "storage/store.hpp"

namespace depthgrid {

/// What is left to train: cells of the sweep that meet the condition, are among those named, have
/// no result and are not cancelled. One flag for each cell of the sweep.
/// @param only   as RunOrder::only; empty: all. @param named  ids; empty: all.
/// @throws UserError (Usage) for a condition that is none.
std::vector<bool> remaining_cells(const Sweep& sweep, const Store& store, const std::string& only,
                                  const std::vector<std::string>& named);

}  // namespace depthgrid
