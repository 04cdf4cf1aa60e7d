#pragma once

#include <filesystem>
#include <vector>

#include "core/base/cell.hpp"
#include "core/base/fs.hpp"
#include "core/probe/record.hpp"

namespace depthgrid {

/// Writes what a probe hands to RecordSink::keep() beside the cell's result, see
/// storage/cells/state_file.hpp.
/// @param control  signal under which it was measured; empty: the cell's own. @return the file.
/// @throws StorageError.
std::filesystem::path store_states(const std::filesystem::path& cell_dir, const CellId& cell,
                                   const StateRecord& record, const Fs& disk,
                                   const std::vector<double>& control = {});

}  // namespace depthgrid
