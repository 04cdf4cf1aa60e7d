#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/cell.hpp"
#include "core/config/sweep.hpp"
#include "storage/store.hpp"

namespace depthgrid {

/// What is left to train: cells of the sweep that meet the condition, are among those named, have
/// no result and are not cancelled. One flag for each cell of the sweep.
/// @param only   as RunCommand::only; empty: all. @param named  ids; empty: all.
/// @throws UserError (Usage) for a condition that is none.
std::vector<bool> remaining_cells(const Sweep& sweep, const Store& store, const std::string& only,
                                  const std::vector<std::string>& named);

/// How far these cells are, as one number by which a run that is tried again is judged: it grows
/// with every result, every failure report and every newer checkpoint of a cell, and not with time.
/// Of a cell it is (1 if it has a result + generation of its newest failure) · 2³² + the step of
/// its newest checkpoint while it has no result; older checkpoints, which go when newer ones come,
/// do not count.
std::int64_t progress_measure(const Store& store, const std::vector<CellId>& cells);

}  // namespace depthgrid
