#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/cell_orders_argument.hpp"
#include "cli/command_line.hpp"
#include "cli/verbs.hpp"
#include "core/base/error.hpp"
#include "sweeps/launch/failure_class.hpp"
#include "sweeps/queue/cell_orders.hpp"
#include "sweeps/report/cell_log.hpp"

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

}  // namespace

int retry_verb(const Arguments& arguments) {
  CommandLine line(
      "retry [CELL…] [STORE] [--failed] [--class CLASS]… [--filter EXPRESSION] [-n] [--json]",
      "Makes cells that have failed or were cancelled pending again: the next depthgrid run\n"
      "trains them from their last checkpoints. Without it, a run tries failed cells again,\n"
      "but not cancelled ones, and submit leaves out those that would fail again. CLASS is that\n"
      "of the failure's report: cancelled, crash, error, hang, oom, …, as depthgrid logs shows "
      "it.");
  line.examples({"retry hidden=4,s0 results/tiny", "retry results/tiny --class oom --class crash"});
  order_options(line)
      .flag("failed", "all cells that have failed, not those that were cancelled")
      .list("class", "CLASS", "cells with a failure of this class; repeatable")
      .list("cell", "CELL", "a cell, as the argument; repeatable");
  if (!line.parse(arguments)) return 0;
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
  LeaseKeeper leases;
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
