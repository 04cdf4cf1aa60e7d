#include "cli/command_line.hpp"
#include "cli/store_argument.hpp"
#include "cli/verbs.hpp"
#include "sweeps/report/cell_log.hpp"

namespace depthgrid {

int logs_verb(const Arguments& arguments) {
  CommandLine line(
      "logs CELL [STORE] [--lines N] [--json]",
      "What happened to one cell: attempts, events, the report of a failure and the end of\n"
      "the logs of the workers that tried it. CELL is an id, an alias, or the beginning of one.");
  line.examples({"logs hidden=4,s0 results/tiny", "logs 9867 --lines 100 --json"});
  line.argument("CELL")
      .argument("STORE")
      .sweep_options()
      .text("store", "DIR", "folder of the store, or a sweep file")
      .number("lines", 20, "lines of each worker's log")
      .flag("json", "print JSON");
  if (!line.parse(arguments)) return 0;
  const std::string cell = line.required("CELL");
  const auto lines = static_cast<std::size_t>(line.number_of("lines", 0));
  const StoreArgument argument(line);
  const Store store = argument.open();
  const Listing listing = argument.listing();
  const CellSummary& row = listing.cells[find_cell(listing, cell)];
  print(line.has("json") ? cell_log_json(store, row, lines) : cell_log_text(store, row, lines));
  return 0;
}

}  // namespace depthgrid
