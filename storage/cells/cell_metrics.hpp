#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "storage/columns/column_table.hpp"

namespace depthgrid {

/// Variables that cell_metrics() reads; a reader of files need not load others.
std::vector<std::string> metric_variables();

/// Numbers of one cell for listings, by variable of the table, with the split after a dot. For a
/// series over `step` that of the last step made, for one over `eval_step` of the last evaluation.
/// Absent numbers (NaN, -1) are left out.
///
/// @param table  with the coordinate of each step axis; `cell` may have any length.
/// @param row    index of the cell.
std::map<std::string, double> cell_metrics(const ColumnTable& table, std::size_t row);

/// Last optimiser step recorded for the cell; 0 if none.
std::int64_t last_step(const ColumnTable& table, std::size_t row);

/// An integer variable of the cell; `absent` if the table lacks the variable.
std::int64_t cell_integer(const ColumnTable& table, std::string_view name, std::size_t row,
                          std::int64_t absent);

}  // namespace depthgrid
