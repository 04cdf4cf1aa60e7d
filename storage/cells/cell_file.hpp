#pragma once

#include <filesystem>

#include "core/base/cell.hpp"
#include "storage/cells/cell_facts.hpp"
#include "storage/cells/cell_history.hpp"
#include "storage/columns/column_table.hpp"
#include "storage/plan_file.hpp"

namespace depthgrid {

/// Everything that `metrics.h5` and `result.h5` of one cell are built from.
struct CellFileInput {
  const StoredCell& plan;
  const StoredPlan& sweep;
  const CellHistory& history;
  CellStatus status = CellStatus::Pending;
  CellFacts facts;
};

/// The variables of one cell: `cell` has length 1, a step axis holds the steps that were recorded.
///
/// Rows of the journals ("train", "eval", "cell") become series and cell-level variables by their
/// names; facts come on top. Names that the table of variables lacks are bugs and throw Error, as
/// do counts of values that fit no shape.
ColumnTable cell_table(const CellFileInput& input);

/// The same without the identity of the cell (param_columns.hpp), which the plan knows.
ColumnTable cell_records(const CellFileInput& input);

/// Builds and seals `metrics.h5`, replacing the one before. @throws StorageError.
void publish_metrics(const std::filesystem::path& cell_dir, const CellFileInput& input);

/// Builds and seals `result.h5`; the cell is completed from then on.
/// @return false if another attempt has published the cell's result before: ours is dropped.
/// @throws StorageError.
bool publish_result(const std::filesystem::path& cell_dir, const CellFileInput& input);

}  // namespace depthgrid
