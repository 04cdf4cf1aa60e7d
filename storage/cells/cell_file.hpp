#pragma once

#include <filesystem>

#include "core/base/cell.hpp"
#include "storage/cells/cell_facts.hpp"
#include "storage/cells/cell_history.hpp"
#include "storage/columns/column_table.hpp"
#include "storage/plan_file.hpp"

namespace depthgrid {

/// The sources of `metrics.h5` and `result.h5` of one cell.
struct CellFileInput {
  const StoredCell& plan;
  const StoredPlan& sweep;
  const CellHistory& history;
  CellStatus status = CellStatus::Pending;
  CellFacts facts;
};

/// The variables of one cell: `cell` has length 1, a step axis holds the recorded steps.
///
/// Rows of the journals ("train", "eval", "cell") become series and cell-level variables by name;
/// facts are added to them.
/// @throws Error  for names that the table of variables lacks and for numbers of values that fit no
///         shape; both are bugs.
ColumnTable cell_table(const CellFileInput& input);

/// The same without the identity of the cell (param_columns.hpp), which is in the plan.
ColumnTable cell_records(const CellFileInput& input);

/// Builds and seals `metrics.h5`, replacing an older one. @throws StorageError.
void publish_metrics(const std::filesystem::path& cell_dir, const CellFileInput& input);

/// Builds and seals `result.h5`, which completes the cell.
/// @return false if another attempt has already published the cell's result; this one is dropped.
/// @throws StorageError.
bool publish_result(const std::filesystem::path& cell_dir, const CellFileInput& input);

}  // namespace depthgrid
