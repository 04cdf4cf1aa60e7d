#pragma once

#include <string>
#include <vector>

#include "core/base/cell.hpp"
#include "storage/cells/cell_history.hpp"
#include "storage/columns/column_table.hpp"

namespace depthgrid {

/// What the header of a journal says about its attempt (JournalHeader::attempt_json). Keys of the
/// object: job, cells, ranks, host, device, start (seconds since 1970), scheduler_id, code_version,
/// environment (object), library_versions (object). All are optional.
struct AttemptInfo {
  std::string job, host, device, scheduler_id, code_version;
  std::string environment, library_versions;  // JSON
  double start = 0;                           // NaN when not given
  std::int64_t cells = -1, ranks = -1;
};

/// Of an attempt whose header is damaged: everything empty.
AttemptInfo attempt_info(const std::string& attempt_json);

/// Adds attempt_*, event_* and job_* and their axes to the table of one cell. An attempt without an
/// end that was followed by another, or whose cell is finished, has crashed.
void add_attempt_columns(ColumnTable& table, const CellId& cell, const CellHistory& history,
                         CellStatus status);

}  // namespace depthgrid
