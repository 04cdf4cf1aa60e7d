#include <string>
#include <vector>

#include "cli/arguments/command_line.hpp"
#include "cli/arguments/store_argument.hpp"
#include "cli/verbs.hpp"
#include "core/base/error.hpp"
#include "core/base/printable.hpp"
#include "core/base/subprocess.hpp"
#include "sweeps/protocol/commands.hpp"
#include "sweeps/protocol/worker_command.hpp"
#include "sweeps/report/cell_log.hpp"
#include "sweeps/report/results_query.hpp"

namespace depthgrid {
namespace {

/// Ids of the cells of --cell and --filter; without them, of all that are completed.
std::vector<std::string> chosen_ids(const CommandLine& line, Listing& listing) {
  std::vector<std::string> out;
  for (const std::string& cell : line.list_of("cell")) {
    out.push_back(listing.cells[find_cell(listing, cell)].id);
  }
  if (!out.empty()) return out;
  keep_plan(listing);
  for (const std::size_t row : select_cells(listing, {"", line.text_of("filter")})) {
    const CellSummary& cell = listing.cells[row];
    if (cell.status == CellStatus::Completed) out.push_back(cell.id);
  }
  if (out.empty()) {
    throw UserError(ExitCode::NoInput,
                    line.has("filter")
                        ? "probe: no completed cell fits --filter " + line.text_of("filter")
                        : "probe: no cell of the store is completed yet; --cell names one that is "
                          "still training, whose checkpoints can be measured");
  }
  return out;
}

}  // namespace

int probe_verb(const Arguments& arguments) {
  CommandLine line(
      "probe [STORE] [--cell CELL]… [--filter EXPRESSION] [--probe NAME,…]… [--at STEP,…]…\n"
      "               [--set probes.LEAF=VALUE]… [--control U,…] [--json]",
      "Measures stored checkpoints along depth, as a run does while it trains: trajectory,\n"
      "gates, lyapunov and others (docs/diagnostics.md). What is found is kept beside each\n"
      "cell's result, and comes into sweep.h5 with the next pack.");
  line.examples({"probe results/tiny --probe lyapunov --set probes.lyapunov.exponents=4",
                 "probe results/tiny --cell hidden=4,s0 --probe trajectory,gates --at best,final"});
  line.argument("STORE")
      .text("store", "DIR", "folder of the store, or a sweep file")
      .list("cell", "CELL", "an id, an alias, or the beginning of one (default: all completed)")
      .text("filter", "EXPRESSION", "cells that fit, as in results")
      .list("probe", "NAME", "which (default: those that the cell's leaves switch on)")
      .list("at", "STEP", "checkpoints: final (default), best, a stored step, or all; repeatable")
      .list("set", "LEAF=VALUE", "leaves probes.*, for this run of the verb")
      .text("control", "U,…",
            "control signal, a number for each axis; without it, model.control.u or none");
  if (!line.json().excludes("cell", "filter").parse(arguments)) return 0;
  const StoreArgument argument(line);
  Listing listing = argument.listing();
  ProbeCommand command{.store = argument.open().root().string(),
                       .cells = chosen_ids(line, listing),
                       .probes = line.words_of("probe"),
                       .set = line.list_of("set"),
                       .control = control_signal(line),
                       .json = line.has("json")};
  if (line.has("at")) command.at = line.words_of("at");
  command.command = "depthgrid probe";
  for (const std::string& word : arguments) command.command += " " + shell_word(word);
  become(worker_command("probe", command_json(command)));
}

}  // namespace depthgrid
