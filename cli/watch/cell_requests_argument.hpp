#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/arguments/store_argument.hpp"

namespace depthgrid {

/// The cells that `cancel`, `retry` or `why` is asked about, in a store that exists.
struct RequestedCells {
  Store store;
  std::string folder;  // as the user named it
  Listing listing;
  std::vector<std::size_t> rows;  // of the listing, each once, in its order
};

/// Adds [CELL…] [STORE], --store and --filter.
CommandLine& cells_options(CommandLine& line);
/// Reads them: the cells that are named (by CELL or --cell), and those that meet --filter or
/// `also`.
/// @param named  whether the verb's own options choose cells. @param also  their choice.
/// @throws UserError (Usage) if no cell is asked for, or one is unknown
RequestedCells requested_cells(
    const CommandLine& line, bool named = false,
    const std::function<bool(const Store&, const CellSummary&)>& also = nullptr);

}  // namespace depthgrid
