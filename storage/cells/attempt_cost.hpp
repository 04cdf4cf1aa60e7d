#pragma once

#include <map>

#include "core/base/cell.hpp"
#include "storage/columns/column_table.hpp"

namespace depthgrid {

/// Time that the attempts at a cell took, in seconds times ranks; of a job of several cells, each
/// has an equal share.
struct AttemptCost {
  double seconds = 0;
  double lost = 0;  // of it, for steps that a later attempt made again
};

/// Costs by cell, from the columns attempt_* and job_* of a table; empty without them. An attempt
/// that recorded no end, because it was killed or still runs, counts its steps.
/// @param seconds_per_step  of a cell's steps; used for these. May be empty.
std::map<CellId, AttemptCost> attempt_costs(const ColumnTable& table,
                                            const std::map<CellId, double>& seconds_per_step);

/// The columns that attempt_costs() reads.
inline constexpr const char* kAttemptCostColumns[] = {
    "attempt_cell",      "attempt_job", "attempt_start", "attempt_end", "attempt_first_step",
    "attempt_last_step", "job",         "job_cells",     "job_ranks"};

}  // namespace depthgrid
