#include "cli/design/print_plan.hpp"

#include <map>

#include "cli/arguments/command_line.hpp"
#include "core/base/error.hpp"
#include "core/base/isa.hpp"
#include "core/base/machine.hpp"
#include "storage/cells/summary.hpp"
#include "storage/former_values.hpp"
#include "storage/plan_sequence.hpp"
#include "storage/store.hpp"
#include "sweeps/plan/describe_cache.hpp"
#include "sweeps/plan/missing_looks.hpp"
#include "sweeps/plan/start_check.hpp"
#include "sweeps/plan/text_check.hpp"
#include "sweeps/report/listing.hpp"
#include "sweeps/run/budget_check.hpp"
#include "sweeps/simulate/scaling.hpp"

namespace depthgrid {
namespace {

namespace fs = std::filesystem;

/// Notes on what `run` will not accept in this store, and what of it does not count.
void add_refusals(const Sweep& sweep, const fs::path& folder, std::vector<std::string>& notes) {
  if (!Store::is_at(folder)) return;
  const Store store = Store::open(folder);
  for (const std::string& why : refused_texts(sweep, store)) {
    notes.push_back("depthgrid run will refuse to begin: " + why);
  }
  for (std::string& why : disregard_former(store, sweep)) {
    notes.push_back(std::move(why) + "; depthgrid run trains it again");
  }
  if (std::string note = former_names_note(store, sweep); !note.empty()) {
    notes.push_back(std::move(note));
  }
}

/// Status of the cells in the store, if there is one. A cell whose result is damaged is pending,
/// whatever sweep.h5 has kept of it: `run` trains it again.
std::vector<CellStatus> status_of(const Sweep& sweep, const fs::path& folder) {
  std::map<CellId, CellStatus> known;
  if (Store::is_at(folder)) {
    const Store store = Store::open(folder);
    disregard_former(store, sweep);
    if (has_plan(store)) {
      for (const CellSummary& cell : summarise(store, read_plan(store))) {
        const bool again = is_result(cell.status) && !store.completed(cell.id);
        known[cell.id] = again ? CellStatus::Pending : cell.status;
      }
    }
  }
  std::vector<CellStatus> status;
  for (const CellPlan& cell : sweep.cells) {
    const auto at = known.find(cell.id);
    status.push_back(at == known.end() ? CellStatus::Pending : at->second);
  }
  return status;
}

void add_simulation(const Sweep& sweep, const SimulationRequest& request, PlanReport& report) {
  std::vector<bool> wanted;
  for (const CellStatus status : report.status) wanted.push_back(!is_result(status));
  const std::vector<ScalingRow> rows =
      scaling_of(job_cells(sweep.cells, report.costs), wanted, report.packing, report.costs,
                 request.clusters, request.repetitions);
  report.simulation = scaling_text(rows, colour_of_stdout());
  report.simulation_json = scaling_json(rows);
}

/// As far as this machine can tell: with "cuda" the run is meant for another one.
bool plans_for_cpu(const CellConfig& run) {
  const std::string& device = run.word("resources.device");
  return device == "cpu" || (device == "auto" && this_machine().gpus.empty());
}

}  // namespace

int print_plan(const Sweep& sweep, const fs::path& store, std::int64_t teams, bool json,
               const SimulationRequest& request) {
  isa_in_use();  // a wrong DEPTHGRID_ISA ends this with its own message, not the worker's
  CostTable costs;
  std::vector<std::string> notes;
  const DescribeCache cache;
  const std::string unchecked = check_starts(sweep, cache);
  if (!unchecked.empty()) notes.push_back(unchecked);
  try {
    costs = cache.costs(sweep.cells);
  } catch (const Error& e) {
    notes.push_back(std::string("costs are unknown: ") + e.what());
  }
  add_refusals(sweep, store, notes);
  if (std::string note = other_looks_text(sweep, store); !note.empty()) {
    notes.push_back(std::move(note));
  }
  for (const MissingLooks& missing : missing_looks(sweep, costs, store)) {
    notes.push_back(missing_looks_text(missing, sweep, store));
  }
  for (std::string& blind : blind_probes(sweep, costs)) notes.push_back(std::move(blind));
  if (auto slow = slow_precision(sweep, plans_for_cpu(sweep.run), has_bf16_products())) {
    notes.push_back(*std::move(slow));
  }
  PlanReport report =
      make_plan_report(sweep, store.string(), status_of(sweep, store),
                       packing_options(sweep.run, teams), std::move(costs), std::move(notes));
  report.growth = growth_of(sweep, store);
  if (!request.clusters.empty()) add_simulation(sweep, request, report);
  const std::string refused = add_budgets(sweep, store, report);
  print(json ? plan_json(sweep, report) : plan_text(sweep, report, colour_of_stdout()));
  if (!refused.empty()) throw UserError(ExitCode::BadConfig, refused);
  return 0;
}

}  // namespace depthgrid
