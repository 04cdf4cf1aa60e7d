#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "storage/hdf5/checkpoint.hpp"

namespace depthgrid {

/// Bytes of a sealed checkpoint: attributes of the root (format, format_version, step, generation,
/// config_digest), groups `numbers` and `texts` with one attribute for each entry, and group
/// `weights` with one contiguous float32 dataset for each tensor, whose attribute `sha256` is of
/// its bytes in memory.
/// @param cell_dir  folder of the target; large files are built there.
/// @throws BackendError; Error for a tensor whose name or shape is impossible.
std::vector<std::byte> checkpoint_image(const std::filesystem::path& cell_dir,
                                        std::int64_t generation, const CheckpointData& data);

/// All of a checkpoint, each tensor compared with its digest.
/// @throws StorageError (BadData) with the reason, also for what HDF5 refuses.
LoadedCheckpoint read_checkpoint(const CheckpointFile& at, const std::string& config_digest);

}  // namespace depthgrid
