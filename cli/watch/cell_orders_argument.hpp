#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/arguments/store_argument.hpp"
#include "sweeps/launch/sweep_events.hpp"

namespace depthgrid {

/// The cells that `cancel`, `retry` or `why` is asked about, in a store that exists.
struct OrderedCells {
  Store store;
  std::string folder;  // as the user named it
  Listing listing;
  std::vector<std::size_t> rows;  // of the listing, each once, in its order
};

/// Adds [CELL…] [STORE], --store and --filter.
CommandLine& cells_options(CommandLine& line);
/// The same, -n and --json.
CommandLine& order_options(CommandLine& line);

/// Reads them: the cells that are named, and those that meet --filter or `also`.
/// @param named  whether the verb's own options choose cells. @param also  their choice.
/// @throws UserError (Usage) if no cell is asked for, or one is unknown
OrderedCells ordered_cells(const CommandLine& line, bool named,
                           const std::function<bool(const Store&, const CellSummary&)>& also);

/// What became of one cell.
struct OrderOutcome {
  std::size_t row = 0;
  std::string_view word;  // for programs
  std::string text;       // for people
  bool obeyed = false;    // the order changes something
};

/// Records in the store what this user has ordered of cells, if anything has changed by it.
/// @param dry  nothing was done.
void record_orders(const OrderedCells& cells, const std::vector<OrderOutcome>& outcomes,
                   SweepEventKind kind, bool dry);

/// Prints them as a table, or as JSON: docs/cli.md.
/// @param tasks  of Slurm, that have left its queue.
void print_outcomes(const CommandLine& line, const OrderedCells& cells,
                    const std::vector<OrderOutcome>& outcomes,
                    const std::vector<std::string>& tasks = {});

}  // namespace depthgrid
