#pragma once

#include <cstdint>

#include "core/config/cell_config.hpp"

namespace depthgrid {

/// Bytes that a cell's folder holds once the cell is done: journal, result and the checkpoints that
/// are kept. Counted from the configuration alone; the result is taken as uncompressed, so a long
/// cell needs less. Steps replayed after interruptions are not in it.
/// @param parameters  stored parameters of the cell.
double predicted_stored_bytes(const CellConfig& config, std::int64_t parameters);

}  // namespace depthgrid
