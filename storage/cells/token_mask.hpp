#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/cell.hpp"
#include "core/base/real_fs.hpp"

namespace depthgrid {

class TableReader;

/// Which tokens of one sequence of the probe set the layers of a cell execute.
struct TokenMask {
  std::string variable;                     // whose choice: see read_token_mask()
  std::int64_t step = 0;                    // optimiser steps done at the measurement
  std::vector<std::int64_t> layers = {};    // (m) that may skip tokens, as on the axis `layer`
  std::size_t positions = 0;                // T
  std::vector<std::uint8_t> executed = {};  // (m, T) 1: executed, 0: skipped
  std::string set_sha256 = {};              // probe_set_sha256; empty if it is not recorded
};

/// Reads one from a cell's `result.h5`, opened by open_cell_file() or here, of the last measurement
/// that has masks.
/// @param variable  routing_mask (student) or routing_capacity_mask (teacher).
/// @param sequence  from 0, of those that are kept.
/// @return  nothing where the file lacks the variable or the sequence, or no measurement has masks.
/// @throws StorageError as open_cell_file()
std::optional<TokenMask> read_token_mask(const TableReader& result, std::string_view variable,
                                         std::size_t sequence);
std::optional<TokenMask> read_token_mask(const std::filesystem::path& result, const CellId& id,
                                         std::string_view variable, std::size_t sequence,
                                         const Fs& disk = real_fs());

}  // namespace depthgrid
