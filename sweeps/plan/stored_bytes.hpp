#pragma once

#include <cstdint>

#include "core/config/cell_config.hpp"

namespace depthgrid {

/// Size in bytes of a finished cell's folder: journal, result and the checkpoints that are kept.
/// Computed from the configuration alone and for an uncompressed result, so a long cell needs less.
/// Steps replayed after interruptions are not included.
/// @param parameters  stored parameters of the cell.
double predicted_stored_bytes(const CellConfig& config, std::int64_t parameters);

}  // namespace depthgrid
