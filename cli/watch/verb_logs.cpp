#include <chrono>
#include <string>
#include <thread>

#include "cli/arguments/command_line.hpp"
#include "cli/arguments/store_argument.hpp"
#include "cli/verbs.hpp"
#include "sweeps/report/cell_log.hpp"
#include "sweeps/report/log_follower.hpp"

namespace depthgrid {
namespace {

/// Prints what the workers of a cell write, until the cell has ended.
void follow(const Store& store, const CellId& id, std::size_t lines) {
  LogFollower log(store, id, lines);
  const auto show = [&log] {
    const std::string text = log.more();
    if (!text.empty()) print(text);
  };
  for (show(); !log.ended(); show()) std::this_thread::sleep_for(std::chrono::milliseconds(500));
  // A worker publishes the end of a cell before it writes that of the job to its log.
  std::this_thread::sleep_for(std::chrono::seconds(1));
  show();
}

}  // namespace

int logs_verb(const Arguments& arguments) {
  CommandLine line(
      "logs CELL [STORE] [--lines N] [-f | --json]",
      "What happened to one cell: attempts, events, the report of a failure and the end of\n"
      "the logs of the workers that tried it. CELL is an id, an alias, or the beginning of one.\n"
      "With -f, the log of its newest worker as it is written, until the cell has ended.");
  line.examples({"logs hidden=4,s0 results/tiny", "logs 9867 --lines 100 --json",
                 "logs 9867 results/tiny -f"});
  store_options(line.argument("CELL"))
      .number("lines", 20, "lines of each worker's log")
      .flag("follow,f", "go on with what is written, until the cell has ended");
  if (!line.json().excludes("follow", "json").parse(arguments)) return 0;
  const std::string cell = line.required("CELL");
  const auto lines = static_cast<std::size_t>(line.number_of("lines", 0));
  const StoreArgument argument(line);
  const Store store = argument.open();
  const Listing listing = argument.listing();
  const CellSummary& row = listing.cells[find_cell(listing, cell)];
  if (line.has("follow")) {
    follow(store, row.id, lines);
    return 0;
  }
  print(line.has("json") ? cell_log_json(store, row, lines) : cell_log_text(store, row, lines));
  return 0;
}

}  // namespace depthgrid
