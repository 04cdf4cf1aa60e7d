#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "core/base/cell.hpp"
#include "core/base/real_fs.hpp"

namespace depthgrid {

/// Raw states of a cell at one step: the contents of a file of states. All row-major.
struct StateFileInput {
  CellId cell;
  std::int64_t step = 0;                    // optimiser steps done
  bool half = true;                         // the states are binary16, else binary32 as in the file
  std::int64_t sequences = 0;               // n, the first ones of the probe set
  std::span<const double> edge_times;       // (L + 1) depth-times
  std::span<const std::int64_t> channels;   // (k) which ones they are
  std::span<const std::int32_t> token_ids;  // (n, T)
  std::span<const std::byte> states;        // (L + 1, n, T, k), little-endian
  std::span<const double> control = {};     // signal under which, if not the cell's own
};

/// Builds and seals `states-<step>.h5` beside the cell's result: variables `state` (a chunk per
/// depth), `state_token` and `depth_edge_time`, with their axes. The same contents give the same
/// bytes. A file with the same tokens, channels, type and signal is left as it is, whoever wrote
/// it; for others of that step there are `states-<step>-2.h5`, …. What is damaged is quarantined.
/// @return its path. @throws Error if the numbers do not fit the axes, StorageError.
std::filesystem::path publish_states(const std::filesystem::path& cell_dir,
                                     const StateFileInput& input, const Fs& disk = real_fs());

/// A file of states as an index lists it.
struct StateFile {
  std::filesystem::path path;
  std::int64_t step = 0;
  std::string sha256;  // of its seal, hex
};

/// The sealed files of states of a cell, by step, those of one step in the order of their numbers.
/// Of each only the seal is read; what has none is left out.
std::vector<StateFile> state_files(const std::filesystem::path& cell_dir,
                                   const Fs& disk = real_fs());

}  // namespace depthgrid
