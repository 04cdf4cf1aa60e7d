#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/base/cell.hpp"
#include "core/base/real_fs.hpp"

namespace depthgrid {

/// A periodic evaluation of a finished cell: one number for each evaluation, in order.
struct CellSeries {
  std::vector<double> steps, values;
  std::vector<double> seconds;  // of training till then, all attempts; NaN where not recorded
  /// What its attempts ran on, each once, in order: "AMD EPYC … ×1, 4 cells". Times of cells are
  /// comparable only where this is equal.
  std::string machines;
  std::vector<std::string> jobs = {};  // fused jobs of its attempts, each once; empty if not known
};

/// Reads it from a cell's `result.h5`.
/// @param metric  a variable over `eval_step`, with the split or mode behind a dot.
/// @return  nothing if the file lacks the variable, or it has no such label or axis.
/// @throws StorageError as open_cell_file()
std::optional<CellSeries> read_cell_series(const std::filesystem::path& result, const CellId& id,
                                           const std::string& metric, const Fs& disk = real_fs());

}  // namespace depthgrid
