#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "storage/store.hpp"
#include "sweeps/report/listing.hpp"

namespace depthgrid {

/// Row of the cell meant by an alias, an id, or the beginning of exactly one id or alias.
/// @throws UserError (Usage) that lists what it could be.
std::size_t find_cell(const Listing& listing, std::string_view text);

/// What happened to one cell: attempts, events, the report of a failure, and the last `lines` lines
/// of the log of each worker that tried it (logs/, as the attempts name them).
std::string cell_log_text(const Store& store, const CellSummary& cell, std::size_t lines);

/// The same: {"schema": 1, "id", "alias", "status", "step", "attempts": [...], "events": [...],
/// "failure": {...} or null, "log": [lines of the newest], "logs": [{"file", "lines"}]};
/// docs/cli.md.
std::string cell_log_json(const Store& store, const CellSummary& cell, std::size_t lines);

}  // namespace depthgrid
