#include <chrono>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/arguments/command_line.hpp"
#include "cli/verbs.hpp"
#include "cli/watch/cell_requests_argument.hpp"
#include "core/base/child_process.hpp"
#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "storage/plan_sequence.hpp"
#include "sweeps/run/cell_accounts.hpp"
#include "sweeps/slurm/missing_cells.hpp"
#include "sweeps/slurm/slurm_client.hpp"

namespace depthgrid {
namespace {

constexpr double kSlurmSeconds = 5;  // a person waits

/// What Slurm has of the store's submissions; nobody is asked where there are none.
void ask_slurm(const Store& store, AccountSources& sources) {
  const auto submitted = submissions(store.root(), store.fs());
  if (submitted.empty()) return;
  try {
    sources.queue = live_tasks(submitted, SlurmClient(real_commands(), kSlurmSeconds).queue());
  } catch (const UserError& problem) {
    sources.queue_problem = problem.what();
  }
}

/// Cells that processes have on other machines, and of which no heartbeat is seen.
std::set<CellId> silent_cells(const RequestedCells& asked, const StoredPlan& plan) {
  std::vector<CellId> running;
  for (const std::size_t row : asked.rows) {
    const CellSummary& cell = asked.listing.cells[row];
    if (cell.status == CellStatus::Running) running.push_back(cell.id);
  }
  const std::vector<CellId> elsewhere = owned_elsewhere(asked.store, running);
  std::set<CellId> out(elsewhere.begin(), elsewhere.end());
  const Value* const lease = leaf_of(plan, plan.cells.front(), "resources.lease");
  const auto* const seconds = lease == nullptr ? nullptr : lease->get_if<std::int64_t>();
  if (out.empty() || seconds == nullptr) return {};
  log(LogLevel::Info, fmt::format("why: observing the heartbeats of {} cells that other machines "
                                  "have, for {} s at most",
                                  out.size(), *seconds / 3));
  for (const CellId& id : cells_at_work(asked.store, elsewhere, std::chrono::seconds(*seconds))) {
    out.erase(id);
  }
  return out;
}

}  // namespace

int why_verb(const Arguments& arguments) {
  CommandLine line(
      "why CELL… [STORE] [--filter EXPRESSION] [--lines N] [--json]",
      "Why a cell is not done: what it waits for, who has it, how it failed and by which budget,\n"
      "who cancelled it; where its logs are, and the command that goes on. CELL is an id, an\n"
      "alias, or the beginning of one; STORE is the folder of a store or a sweep file.");
  line.examples({"why hidden=4,s0 results/tiny", "why results/tiny --filter 'status = failed'",
                 "why 9867 --json"});
  cells_options(line).number("lines", 5, "lines of what a failed attempt said last");
  if (!line.json().parse(arguments)) return 0;
  const auto lines = static_cast<std::size_t>(line.number_of("lines", 0));
  const RequestedCells asked = requested_cells(line);
  const StoredPlan plan = read_plan(asked.store);
  AccountSources sources{.cells = asked.listing, .plan = plan};
  ask_slurm(asked.store, sources);
  sources.silent = silent_cells(asked, plan);
  const CellAccounts known(asked.store, std::move(sources));
  std::vector<CellAccount> accounts;
  for (const std::size_t row : asked.rows) accounts.push_back(known.of(row));
  if (line.has("json")) {
    print(accounts_json(accounts, asked.folder));
  } else if (accounts.empty()) {
    print("no such cell in " + asked.folder + "\n");
  } else {
    print(accounts_text(accounts, asked.listing, lines));
  }
  return 0;
}

}  // namespace depthgrid
