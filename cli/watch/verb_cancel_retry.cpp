#include <algorithm>
#include <set>
#include <span>
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
#include "cli/watch/cell_requests_argument.hpp"
#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/base/machine.hpp"
#include "storage/files/lease.hpp"
#include "sweeps/launch/failure_class.hpp"
#include "sweeps/launch/node_faults.hpp"
#include "sweeps/launch/sweep_events.hpp"
#include "sweeps/queue/cell_requests.hpp"
#include "sweeps/slurm/node_exclusion.hpp"
#include "sweeps/slurm/slurm_client.hpp"
#include "sweeps/slurm/submission.hpp"

namespace depthgrid {
namespace {

/// What became of a cell.
struct OutcomeWords {
  std::string_view word;  // for programs
  std::string_view text;  // for people
  bool changed = false;
};

/// By CancelOutcome.
constexpr OutcomeWords kCancelled[] = {{"cancelled", "cancelled", true},
                                       {"asked", "asked to stop; it ends between two steps", true},
                                       {"ended", "as it was: it has ended"}};
/// By RetryOutcome.
constexpr OutcomeWords kRetried[] = {{"pending", "pending: the next run trains it", true},
                                     {"not_failed", "as it was: it has not failed"},
                                     {"in_use", "as it was: a process has it"}};

CommandLine& request_options(CommandLine& line) {
  return cells_options(line).flag("dry-run,n", "only say what would happen");
}

/// What has become of each of the cells, or would with -n: one of `words`.
struct Outcomes {
  std::span<const OutcomeWords> words;
  std::vector<std::size_t> of;  // by place in RequestedCells::rows
};

/// Does to each cell what is asked for, and records in the store that this user has changed it.
/// @param act  from (CellSummary, LeaseKeeper) to an index of `words`; with -n it changes nothing.
template <typename Act>
Outcomes carry_out(const RequestedCells& cells, bool dry, SweepEventKind kind,
                   std::span<const OutcomeWords> words, const Act& act) {
  LeaseKeeper leases({}, cells.store.fs());
  SweepEvent event{.kind = kind, .user = user_name()};
  Outcomes out{words, {}};
  for (const std::size_t row : cells.rows) {
    const CellSummary& cell = cells.listing.cells[row];
    out.of.push_back(static_cast<std::size_t>(act(cell, leases)));
    if (words[out.of.back()].changed) event.cells.push_back(cell.id);
  }
  if (!dry && !event.cells.empty()) EventLog(cells.store.root()).add(std::move(event));
  return out;
}

/// Prints them as a table, or as JSON: docs/cli.md.
/// @param tasks  of Slurm, that have left its queue.
void print_outcomes(const CommandLine& line, const RequestedCells& cells, const Outcomes& outcomes,
                    const std::vector<std::string>& tasks = {}) {
  const bool dry = line.has("dry-run");
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  Table table{{{"cell"}, {"alias"}, {"was"}, {dry ? "would be" : "is"}}, {}};
  for (std::size_t i = 0; i < cells.rows.size(); ++i) {
    const CellSummary& cell = cells.listing.cells[cells.rows[i]];
    const OutcomeWords& said = outcomes.words[outcomes.of[i]];
    rows.push_back({{"id", cell.id},
                    {"alias", cell.alias},
                    {"before", name_of(cell.status)},
                    {"outcome", said.word}});
    table.rows.push_back(
        {cell.id, cell.alias, std::string(name_of(cell.status)), std::string(said.text)});
  }
  if (line.has("json")) {
    nlohmann::ordered_json out{
        {"schema", 1}, {"store", cells.folder}, {"dry_run", dry}, {"cells", std::move(rows)}};
    if (!tasks.empty()) out["slurm_tasks"] = tasks;
    return print_json(out);
  }
  if (table.rows.empty()) return print("no such cell in " + cells.folder + "\n");
  print(text_of(table, colour_of_stdout()));
  if (!tasks.empty()) {
    print(fmt::format("{} tasks of Slurm that wait for such cells alone {} its queue: {}\n",
                      tasks.size(), dry ? "would leave" : "have left", fmt::join(tasks, ", ")));
  }
}

CancelOutcome foreseen_cancel(const Store& store, const CellId& id) {
  if (store.completed(id) || is_cancelled(store, id)) return CancelOutcome::Ended;
  const bool held = lease_state(store.cell_path(id), store.fs()).kind == LeaseState::Kind::Held;
  return held ? CancelOutcome::Asked : CancelOutcome::Cancelled;
}

/// Takes tasks out of Slurm's queue that wait for these cells and for nothing that is not over.
/// What runs ends by itself. Where Slurm does not answer, its tasks begin, find nothing to do and
/// end.
/// @return  their names.
std::vector<std::string> leave_queue(const Store& store, const std::set<CellId>& cells, bool dry) {
  const auto submitted = submissions(store.root(), store.fs());
  const SlurmClient slurm;
  if (cells.empty() || submitted.empty() || !slurm.present()) return {};
  const auto named = [&](const std::string& cell) { return cells.contains(cell); };
  const auto over = [&](const std::string& cell) {
    return (dry && named(cell)) || store.completed(cell) || is_cancelled(store, cell);
  };
  try {
    auto needless = needless_tasks(live_tasks(submitted, slurm.queue()), named, over);
    if (dry || needless.empty()) return needless;
    const std::string problem = slurm.cancel(needless);
    if (problem.empty()) return needless;
    log(LogLevel::Warning, "scancel: " + problem);
  } catch (const UserError& e) {
    log(LogLevel::Warning, e.what());
  }
  return {};
}

RetryOutcome foreseen_retry(CellStatus status) {
  if (is_failure(status)) return RetryOutcome::Pending;
  return status == CellStatus::Running ? RetryOutcome::InUse : RetryOutcome::NotFailed;
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
  if (line.has("json")) {
    print_json({{"schema", 1},
                {"store", argument.folder.string()},
                {"dry_run", dry},
                {"nodes", std::move(nodes)}});
  } else {
    print(text_of(table, colour_of_stdout()));
  }
  return 0;
}

}  // namespace

int cancel_verb(const Arguments& arguments) {
  CommandLine line(
      "cancel [CELL…] [STORE] [--filter EXPRESSION] [--all] [-n] [--json]",
      "Cancels cells: no run trains them until depthgrid retry. A cell that trains is ended\n"
      "within seconds, and those that train with it go on undisturbed. What has a result\n"
      "stays. Tasks that wait in Slurm's queue for such cells alone leave it.\n"
      "CELL is an id, an alias, or the beginning of one; STORE is the folder of a\n"
      "store or a sweep file.");
  line.examples(
      {"cancel hidden=4,s0 results/tiny", "cancel results/tiny --filter 'hidden = 8' -n"});
  request_options(line).flag("all", "all cells that are pending or running");
  if (!line.json().parse(arguments)) return 0;
  const bool dry = line.has("dry-run");
  const RequestedCells cells =
      requested_cells(line, line.has("all"), [](const Store&, const CellSummary& cell) {
        return cell.status == CellStatus::Running ||
               (cell.status == CellStatus::Pending && cell.in_plan);
      });
  const Outcomes outcomes = carry_out(cells, dry, SweepEventKind::CellsCancelled, kCancelled,
                                      [&](const CellSummary& cell, LeaseKeeper& leases) {
                                        return dry ? foreseen_cancel(cells.store, cell.id)
                                                   : cancel_cell(cells.store, cell.id, leases);
                                      });
  std::set<CellId> named;
  for (const std::size_t row : cells.rows) named.insert(cells.listing.cells[row].id);
  print_outcomes(line, cells, outcomes, leave_queue(cells.store, named, dry));
  return 0;
}

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
  request_options(line)
      .flag("failed", "all cells that have failed, not those that were cancelled")
      .list("class", "CLASS", "cells with a failure of this class; repeatable")
      .list("cell", "CELL", "a cell, as the argument; repeatable")
      .list("node", "NODE", "let tasks use a node again that is left out; repeatable");
  if (!line.json().parse(arguments)) return 0;
  if (line.has("node")) return readmit(line);
  const std::vector<std::string> classes = line.words_of("class");
  for (const std::string& given : classes) refuse_unknown_class(given);
  const bool named = line.has("failed") || !classes.empty();
  const RequestedCells cells =
      requested_cells(line, named, [&](const Store& store, const CellSummary& cell) {
        if (!is_failure(cell.status)) return false;
        if (line.has("failed") && cell.status != CellStatus::Cancelled) return true;
        return std::ranges::count(classes, failure_class(store, cell.id)) > 0;
      });
  const bool dry = line.has("dry-run");
  const Outcomes outcomes = carry_out(cells, dry, SweepEventKind::CellsRetried, kRetried,
                                      [&](const CellSummary& cell, LeaseKeeper& leases) {
                                        return dry ? foreseen_retry(cell.status)
                                                   : retry_cell(cells.store, cell.id, leases);
                                      });
  print_outcomes(line, cells, outcomes);
  return 0;
}

}  // namespace depthgrid
