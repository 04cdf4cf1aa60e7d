#pragma once

#include <string>

#include "cli/arguments/command_line.hpp"
#include "sweeps/compare/compare.hpp"
#include "sweeps/report/listing.hpp"

namespace depthgrid {

// Options that `compare` and `report` share.

/// Adds STORE… and what both understand alike. --by is the verb's own.
CommandLine& comparison_options(CommandLine& line);

/// Reads these, --by and --within. @throws UserError (Usage) for a margin that is not above 0, or
/// for another goal than minimize or maximize.
ComparisonQuery comparison_query(const CommandLine& line);

/// The cells of all stores that STORE names, or of the only one, as one listing; damaged files are
/// warned of, and cells of other plans left out unless --all-plans is given. A regular file that
/// ends in .csv is a table (csv_listing.hpp).
/// @throws UserError (Usage), too, if a row of a table is a cell of another store; (NoInput) if a
/// table is not there.
Listing compared_listing(const CommandLine& line);

/// @param asks  what needs curves, for the message. @throws UserError (Usage) if there is a table.
void require_stores(const Listing& listing, const std::string& asks);

}  // namespace depthgrid
