#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "storage/store.hpp"
#include "sweeps/report/listing.hpp"

namespace depthgrid {

/// Row of the cell with this alias or id, or with an id or alias of which `text` is an unambiguous
/// prefix; else of the only cell of an arm or tag ("gpt", "gpt,s0"), or the only one that meets a
/// condition ("hidden = 64 and seed = 0", filter.hpp). @throws UserError (Usage) that lists the
/// candidates.
std::size_t find_cell(const Listing& listing, std::string_view text);

/// History of one cell: attempts, events, the report of a failure, and the last `lines` lines of
/// the log of each worker that attempted it (files in logs/ named by the attempts).
std::string cell_log_text(const Store& store, const CellSummary& cell, std::size_t lines);

/// The same as JSON: {"schema": 1, "id", "alias", "status", "step", "attempts": [...], "events":
/// [...], "failure": {...} or null, "log": [lines of the newest], "logs": [{"file", "lines"}]};
/// docs/cli.md.
std::string cell_log_json(const Store& store, const CellSummary& cell, std::size_t lines);

}  // namespace depthgrid
