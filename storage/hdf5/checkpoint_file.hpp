#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "storage/hdf5/checkpoint.hpp"

namespace depthgrid {

/// Bytes of a sealed checkpoint: attributes of the root (format, format_version, step, generation,
/// config_digest), groups `numbers` and `texts` with one attribute per entry, and group
/// `weights` with one contiguous float32 dataset per tensor, whose attribute `sha256` is the digest
/// of its bytes in memory.
/// @param cell_dir  folder of the target; large files are built there.
/// @throws BackendError; Error for a tensor whose name or shape is impossible.
std::vector<std::byte> checkpoint_image(const std::filesystem::path& cell_dir,
                                        std::int64_t generation, const CheckpointData& data);

/// Reads a whole checkpoint and compares each tensor with its digest.
/// @throws StorageError (BadData) with the reason, also if HDF5 rejects the file.
LoadedCheckpoint read_checkpoint(const CheckpointFile& at, const std::string& config_digest);

}  // namespace depthgrid
