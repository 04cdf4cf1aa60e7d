#include "cli/watch/cell_orders_argument.hpp"

#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "core/base/error.hpp"
#include "core/base/json_text.hpp"
#include "core/base/machine.hpp"
#include "sweeps/report/cell_log.hpp"
#include "sweeps/report/results_query.hpp"

namespace depthgrid {

CommandLine& cells_options(CommandLine& line) {
  return line.arguments("CELL")
      .sweep_options()
      .text("store", "DIR", "folder of the store, or a sweep file")
      .text("filter", "EXPRESSION", "cells that meet it, as in results");
}

CommandLine& order_options(CommandLine& line) {
  return cells_options(line)
      .flag("dry-run,n", "only say what would happen")
      .flag("json", "print JSON");
}

OrderedCells ordered_cells(const CommandLine& line, bool named,
                           const std::function<bool(const Store&, const CellSummary&)>& also) {
  const CellWords words(line.list_of("CELL"));
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

void record_orders(const OrderedCells& cells, const std::vector<OrderOutcome>& outcomes,
                   SweepEventKind kind, bool dry) {
  SweepEvent event{.kind = kind, .user = user_name()};
  for (const OrderOutcome& outcome : outcomes) {
    if (outcome.obeyed) event.cells.push_back(cells.listing.cells[outcome.row].id);
  }
  if (!dry && !event.cells.empty()) EventLog(cells.store.root()).add(std::move(event));
}

void print_outcomes(const CommandLine& line, const OrderedCells& cells,
                    const std::vector<OrderOutcome>& outcomes,
                    const std::vector<std::string>& tasks) {
  const bool dry = line.has("dry-run");
  if (line.has("json")) {
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (const OrderOutcome& outcome : outcomes) {
      const CellSummary& cell = cells.listing.cells[outcome.row];
      rows.push_back({{"id", cell.id},
                      {"alias", cell.alias},
                      {"before", name_of(cell.status)},
                      {"outcome", outcome.word}});
    }
    nlohmann::ordered_json out{
        {"schema", 1}, {"store", cells.folder}, {"dry_run", dry}, {"cells", rows}};
    if (!tasks.empty()) out["slurm_tasks"] = tasks;
    print(json_text(out, 2) + "\n");
    return;
  }
  if (outcomes.empty()) return print("no such cell in " + cells.folder + "\n");
  Table table{{{"cell"}, {"alias"}, {"was"}, {dry ? "would be" : "is"}}, {}};
  for (const OrderOutcome& outcome : outcomes) {
    const CellSummary& cell = cells.listing.cells[outcome.row];
    table.rows.push_back({cell.id, cell.alias, std::string(name_of(cell.status)), outcome.text});
  }
  print(text_of(table, colour_of_stdout()));
  if (!tasks.empty()) {
    print(fmt::format("{} tasks of Slurm that wait for such cells alone {} its queue: {}\n",
                      tasks.size(), dry ? "would leave" : "have left", fmt::join(tasks, ", ")));
  }
}

}  // namespace depthgrid
