#include <set>

#include "cli/arguments/command_line.hpp"
#include "cli/verbs.hpp"
#include "cli/watch/cell_orders_argument.hpp"
#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "storage/files/lease.hpp"
#include "sweeps/queue/cell_orders.hpp"
#include "sweeps/slurm/slurm_client.hpp"
#include "sweeps/slurm/submission.hpp"

namespace depthgrid {
namespace {

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

OrderOutcome told(std::size_t row, CancelOutcome outcome) {
  switch (outcome) {
    case CancelOutcome::Cancelled:
      return {row, "cancelled", "cancelled", true};
    case CancelOutcome::Asked:
      return {row, "asked", "asked to stop; it ends between two steps", true};
    case CancelOutcome::Ended:
      break;
  }
  return {row, "ended", "as it was: it has ended"};
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
  order_options(line).flag("all", "all cells that are pending or running");
  if (!line.parse(arguments)) return 0;
  const OrderedCells cells =
      ordered_cells(line, line.has("all"), [](const Store&, const CellSummary& cell) {
        return cell.status == CellStatus::Running ||
               (cell.status == CellStatus::Pending && cell.in_plan);
      });
  std::vector<OrderOutcome> outcomes;
  std::set<CellId> named;
  LeaseKeeper leases({}, cells.store.fs());
  for (const std::size_t row : cells.rows) {
    const CellId& id = cells.listing.cells[row].id;
    named.insert(id);
    outcomes.push_back(told(row, line.has("dry-run") ? foreseen_cancel(cells.store, id)
                                                     : cancel_cell(cells.store, id, leases)));
  }
  record_orders(cells, outcomes, SweepEventKind::CellsCancelled, line.has("dry-run"));
  const auto tasks = leave_queue(cells.store, named, line.has("dry-run"));
  print_outcomes(line, cells, outcomes, tasks);
  return 0;
}

}  // namespace depthgrid
