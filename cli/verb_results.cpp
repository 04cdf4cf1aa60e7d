#include <fmt/format.h>

#include "cli/command_line.hpp"
#include "cli/store_argument.hpp"
#include "cli/verbs.hpp"
#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "sweeps/report/results_query.hpp"

namespace depthgrid {

int results_verb(const Arguments& arguments) {
  CommandLine line(
      "results [STORE] [--all-plans] [--sort [-]NAME] [--filter EXPRESSION] [--csv | --json]",
      "One row per cell: state, parameters and metrics. STORE is the folder of a store or a\n"
      "sweep file. Example of a filter: 'hidden >= 64 and not status = diverged'.");
  line.argument("STORE")
      .sweep_options()
      .text("store", "DIR", "store of the sweep file")
      .text("sort", "[-]NAME", "a metric, a leaf, or a column; with - in front, largest first")
      .text("filter", "EXPRESSION", "comparisons joined by and, or, not and parentheses")
      .flag("all-plans", "cells of other plans of the store, too")
      .flag("csv", "every leaf that varies and every metric, comma separated")
      .flag("json", "print JSON");
  if (!line.parse(arguments)) return 0;
  if (line.has("csv") && line.has("json")) {
    throw UserError(ExitCode::Usage, "results prints --csv or --json, not both");
  }
  const StoreArgument store(line);
  Listing listing = store.listing();
  const std::string earlier = line.has("all-plans") ? "" : other_plans_text(listing);
  if (!line.has("all-plans")) keep_plan(listing);
  const auto cells = select_cells(listing, {line.text_of("sort"), line.text_of("filter")});
  if (line.has("json")) {
    print(results_json(listing, cells));
  } else if (line.has("csv")) {
    print(csv_of(results_csv_table(listing, cells)));
    if (!earlier.empty()) log(LogLevel::Info, earlier + " not shown; --all-plans shows them");
  } else {
    std::string text = text_of(results_table(listing, cells));
    if (!listing.planned) text += store_text(listing) + "\n";
    bool starred = false;
    for (const std::size_t row : cells) starred = starred || listing.baseline[row];
    if (starred) text += "* baseline\n";
    if (!earlier.empty()) text += earlier + " not shown; --all-plans shows them\n";
    if (listing.eval_windows != "disjoint") {
      text += "evaluated on sliding windows" +
              std::string(listing.eval_windows == "mixed" ? " in some cells" : "") +
              " (eval.stride is less than data.seq_len)\n";
    }
    if (cells.size() < listing.cells.size()) {
      text += fmt::format("{} of {} cells\n", cells.size(), listing.cells.size());
    }
    print(text);
  }
  return 0;
}

}  // namespace depthgrid
