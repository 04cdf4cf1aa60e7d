#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/arguments/command_line.hpp"
#include "cli/arguments/store_argument.hpp"
#include "cli/verbs.hpp"
#include "cli/watch/cell_orders_argument.hpp"
#include "core/base/error.hpp"
#include "core/base/json_text.hpp"
#include "core/base/log.hpp"
#include "core/base/machine.hpp"
#include "sweeps/launch/failure_class.hpp"
#include "sweeps/launch/node_faults.hpp"
#include "sweeps/queue/cell_orders.hpp"
#include "sweeps/report/cell_log.hpp"
#include "sweeps/slurm/node_exclusion.hpp"
#include "sweeps/slurm/slurm_client.hpp"
#include "sweeps/slurm/submission.hpp"

namespace depthgrid {
namespace {

OrderOutcome told_again(std::size_t row, RetryOutcome outcome) {
  switch (outcome) {
    case RetryOutcome::Pending:
      return {row, "pending", "pending: the next run trains it", true};
    case RetryOutcome::InUse:
      return {row, "in_use", "as it was: a process has it"};
    case RetryOutcome::NotFailed:
      break;
  }
  return {row, "not_failed", "as it was: it has not failed"};
}

/// @throws UserError (Usage) with the classes that reports have.
void refuse_unknown_class(const std::string& given) {
  std::vector<std::string_view> known = {"cancelled", "source", "storage"};
  for (int e = 0; e <= static_cast<int>(LaunchEnd::Refused); ++e) {
    const auto end = static_cast<LaunchEnd>(e);
    if (end != LaunchEnd::Done && end != LaunchEnd::Stopped) known.push_back(name_of(end));
  }
  std::ranges::sort(known);
  if (std::ranges::find(known, given) != known.end()) return;
  throw UserError(ExitCode::Usage, fmt::format("retry --class {}: one of {} is expected", given,
                                               fmt::join(known, ", ")));
}

/// `--node`: lets the sweep use nodes again that were left out, and tasks that wait for a start.
int readmit(const CommandLine& line) {
  const std::vector<std::string> words = line.list_of("CELL");
  if (words.size() > 1 || line.has("filter") || line.has("failed") || line.has("class") ||
      line.has("cell")) {
    throw UserError(ExitCode::Usage,
                    "retry --node readmits nodes, and takes a STORE but no cells: type retry once "
                    "for nodes and once for cells");
  }
  const StoreArgument argument(line, words.empty() ? "" : words.front());
  const Store store = argument.open();
  const SlurmClient slurm;
  const bool dry = line.has("dry-run");
  const std::vector<NodeFault> faults = node_faults(store.root(), store.fs());
  nlohmann::ordered_json nodes = nlohmann::ordered_json::array();
  Table table{{{"node"}, {"was left out for"}, {dry ? "would be" : "is"}}, {}};
  for (const std::string& node : line.words_of("node")) {
    const auto at = std::ranges::find(faults, node, &NodeFault::node);
    const bool out = at != faults.end() && (dry || readmit_node(store.root(), node, store.fs()));
    if (out && !dry) {
      EventLog(store.root())
          .add({.kind = SweepEventKind::NodeReadmitted, .node = node, .user = user_name()});
    }
    if (out && !dry && !submissions(store.root()).empty() && slurm.present()) {
      const std::string problem = let_waiting_use(slurm, store.root(), node);
      if (!problem.empty()) {
        log(LogLevel::Warning, fmt::format("tasks that wait keep away from {}: {}", node, problem));
      }
    }
    nodes.push_back({{"node", node}, {"outcome", out ? "readmitted" : "not_left_out"}});
    table.rows.push_back(
        {node, at == faults.end() ? "-" : at->cause,
         out ? "readmitted: tasks may start there" : "as it was: it is not left out"});
  }
  const nlohmann::ordered_json json{{"schema", 1},
                                    {"store", argument.folder.string()},
                                    {"dry_run", dry},
                                    {"nodes", std::move(nodes)}};
  print(line.has("json") ? json_text(json, 2) + "\n" : text_of(table, colour_of_stdout()));
  return 0;
}

}  // namespace

int retry_verb(const Arguments& arguments) {
  CommandLine line(
      "retry [CELL…] [STORE] [--failed] [--class CLASS]… [--filter EXPRESSION] [-n] [--json]\n"
      "             | --node NODE… [STORE]",
      "Makes cells that have failed or were cancelled pending again: the next depthgrid run\n"
      "trains them from their last checkpoints. Without it, a run tries failed cells again,\n"
      "but not cancelled ones, and submit leaves out those that would fail again. CLASS is that\n"
      "of the failure's report: cancelled, crash, error, hang, oom, …, as depthgrid logs shows "
      "it.\nWith --node it readmits nodes that are left out for a fault: depthgrid status names "
      "them.");
  line.examples({"retry hidden=4,s0 results/tiny", "retry results/tiny --class oom --class crash",
                 "retry --node n17 results/tiny"});
  order_options(line)
      .flag("failed", "all cells that have failed, not those that were cancelled")
      .list("class", "CLASS", "cells with a failure of this class; repeatable")
      .list("cell", "CELL", "a cell, as the argument; repeatable")
      .list("node", "NODE", "let tasks use a node again that is left out; repeatable");
  if (!line.parse(arguments)) return 0;
  if (line.has("node")) return readmit(line);
  const std::vector<std::string> classes = line.words_of("class");
  for (const std::string& given : classes) refuse_unknown_class(given);
  const bool named = line.has("failed") || !classes.empty() || line.has("cell");
  OrderedCells cells = ordered_cells(line, named, [&](const Store& store, const CellSummary& cell) {
    if (!is_failure(cell.status)) return false;
    if (line.has("failed") && cell.status != CellStatus::Cancelled) return true;
    return std::ranges::count(classes, failure_class(store, cell.id)) > 0;
  });
  for (const std::string& cell : line.list_of("cell")) {
    const std::size_t row = find_cell(cells.listing, cell);
    if (std::ranges::count(cells.rows, row) == 0) cells.rows.push_back(row);
  }
  std::vector<OrderOutcome> outcomes;
  LeaseKeeper leases({}, cells.store.fs());
  for (const std::size_t row : cells.rows) {
    const CellSummary& cell = cells.listing.cells[row];
    const RetryOutcome foreseen = is_failure(cell.status)              ? RetryOutcome::Pending
                                  : cell.status == CellStatus::Running ? RetryOutcome::InUse
                                                                       : RetryOutcome::NotFailed;
    outcomes.push_back(
        told_again(row, line.has("dry-run") ? foreseen : retry_cell(cells.store, cell.id, leases)));
  }
  record_orders(cells, outcomes, SweepEventKind::CellsRetried, line.has("dry-run"));
  print_outcomes(line, cells, outcomes);
  return 0;
}

}  // namespace depthgrid
