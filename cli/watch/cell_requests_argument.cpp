#include "cli/watch/cell_requests_argument.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "core/base/error.hpp"
#include "sweeps/report/cell_log.hpp"
#include "sweeps/report/results_query.hpp"

namespace depthgrid {

CommandLine& cells_options(CommandLine& line) {
  return line.arguments("CELL")
      .sweep_options()
      .text("store", "DIR", "folder of the store, or a sweep file")
      .text("filter", "EXPRESSION", "cells that meet it, as in results");
}

RequestedCells requested_cells(const CommandLine& line, bool named,
                               const std::function<bool(const Store&, const CellSummary&)>& also) {
  CellWords words(line.list_of("CELL"));
  std::ranges::copy(line.list_of("cell"), std::back_inserter(words.cells));
  if (words.cells.empty() && !line.has("filter") && !named) {
    throw UserError(ExitCode::Usage,
                    "which cells? Name some (an id, an alias, or the beginning of one), or choose "
                    "by an option: --help lists them");
  }
  const StoreArgument argument(line, words.store);
  Store store = argument.open();
  Listing listing = argument.listing();
  std::set<std::size_t> rows;
  for (const std::string& cell : words.cells) rows.insert(find_cell(listing, cell));
  if (line.has("filter")) {
    for (const std::size_t row : select_cells(listing, {"", line.text_of("filter")})) {
      rows.insert(row);
    }
  }
  for (std::size_t row = 0; named && row < listing.cells.size(); ++row) {
    if (also(store, listing.cells[row])) rows.insert(row);
  }
  return {std::move(store), argument.folder.string(), std::move(listing),
          std::vector<std::size_t>(rows.begin(), rows.end())};
}

}  // namespace depthgrid
