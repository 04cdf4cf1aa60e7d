#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "core/base/real_fs.hpp"
#include "storage/cells/cell_series.hpp"

namespace depthgrid {

/// A periodic evaluation of a cell that has no result yet, from its journals: what it has so far.
/// Seconds and machines are not said.
/// @param cell_dir  its name is the cell's id. @param metric  as for read_cell_series()
/// @return  nothing without an evaluation of that name.
std::optional<CellSeries> read_partial_series(const std::filesystem::path& cell_dir,
                                              const std::string& metric,
                                              const Fs& disk = real_fs());

}  // namespace depthgrid
