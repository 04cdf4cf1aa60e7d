#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/config/sweep.hpp"
#include "storage/cells/summary.hpp"
#include "storage/store.hpp"

namespace depthgrid {

/// The cells of a sweep as status and results show them, in the file's order.
struct Listing {
  std::string sweep;
  std::string store;  // directory as the user named it
  std::string metric;
  std::string goal;  // minimize or maximize
  /// How evaluation cuts a split: "disjoint" windows, "sliding" ones that overlap (eval.stride less
  /// than data.seq_len: losses are lower, with more context), or "mixed" over the cells.
  std::string eval_windows = "disjoint";
  std::vector<CellSummary> cells;
  std::vector<bool> baseline;  // one flag a cell
};

/// What the store knows. @throws StorageError if it has no plan yet.
Listing list_store(const Store& store, const std::string& name);

/// A sweep that has no store yet: every cell is pending.
Listing list_sweep(const Sweep& sweep, const std::string& store);

/// True for completed and diverged: `run` has nothing left to do for the cell, and nothing failed.
bool is_result(CellStatus status);
/// True for failed, oom and cancelled.
bool is_failure(CellStatus status);

}  // namespace depthgrid
