#pragma once

#include <string>

#include "core/base/cell.hpp"
#include "storage/cells/cell_history.hpp"
#include "storage/columns/column_table.hpp"

namespace depthgrid {

/// The attempt as described in the header of its journal (JournalHeader::attempt_json). Keys of the
/// object: job, cells, ranks, host, device, instruction_sets, start (seconds since 1970, UTC),
/// scheduler_id, code_version, environment (object), library_versions (object). All are optional.
struct AttemptInfo {
  std::string job, host, device, instruction_sets, scheduler_id, code_version;
  std::string environment, library_versions;  // JSON
  double start = 0;                           // NaN when not given
  std::int64_t cells = -1, ranks = -1;
};

/// Parses `attempt_json`; if the header is damaged, all members are empty.
AttemptInfo attempt_info(const std::string& attempt_json);

/// Adds attempt_*, event_* and job_* and their axes to the table of one cell. An attempt without an
/// end counts as crashed if another attempt followed or the cell is finished.
void add_attempt_columns(ColumnTable& table, const CellId& cell, const CellHistory& history,
                         CellStatus status);

}  // namespace depthgrid
