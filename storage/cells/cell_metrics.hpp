#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "storage/columns/column_table.hpp"

namespace depthgrid {

/// Variables that cell_metrics() looks at; a reader of files need not load others.
std::vector<std::string> metric_variables();

/// Numbers of one cell that listings show and sort by: a variable of the table, the split behind a
/// dot. Of a series over `step` the last step made, of one over `eval_step` the last evaluation.
///
/// @param table  with the coordinate of each step axis; `cell` may have any length.
/// @param row    of the cell.
/// Absent numbers (NaN, -1) are left out.
std::map<std::string, double> cell_metrics(const ColumnTable& table, std::size_t row);

/// Last optimiser step of the cell that the table has; 0 if none.
std::int64_t last_step(const ColumnTable& table, std::size_t row);

/// A number of the cell; `absent` if the table lacks the variable.
std::int64_t cell_integer(const ColumnTable& table, std::string_view name, std::size_t row,
                          std::int64_t absent);

}  // namespace depthgrid
