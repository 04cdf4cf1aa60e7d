#pragma once

#include <string>

#include "cli/arguments/command_line.hpp"
#include "sweeps/report/listing.hpp"

namespace depthgrid {

// Options that `compare` and `report` share.

/// A real number of the command line. @throws UserError (Usage)
double real_of(const CommandLine& line, const char* name);

/// --margin. @throws UserError (Usage) unless it is above 0.
double margin_of(const CommandLine& line);

/// --goal; empty if it is not given. @throws UserError (Usage) for another word than minimize or
/// maximize.
std::string goal_word_of(const CommandLine& line);

/// The cells of all stores that STORE names, or of the only one, as one listing; damaged files are
/// warned of, and cells of other plans left out unless --all-plans is given. A regular file that
/// ends in .csv is a table (csv_listing.hpp).
/// @throws UserError (Usage), too, if a row of a table is a cell of another store; (NoInput) if a
/// table is not there.
Listing compared_listing(const CommandLine& line);

/// @param asks  what needs curves, for the message. @throws UserError (Usage) if there is a table.
void require_stores(const Listing& listing, const std::string& asks);

}  // namespace depthgrid
