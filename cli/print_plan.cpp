#include "cli/print_plan.hpp"

#include <map>

#include "cli/command_line.hpp"
#include "core/base/error.hpp"
#include "storage/cells/summary.hpp"
#include "storage/plan_sequence.hpp"
#include "sweeps/plan/describe_cache.hpp"
#include "sweeps/plan/missing_looks.hpp"
#include "sweeps/plan/start_check.hpp"
#include "sweeps/plan/text_check.hpp"
#include "sweeps/report/listing.hpp"

namespace depthgrid {
namespace {

namespace fs = std::filesystem;

/// Notes on what `run` will not accept in this store.
void add_refusals(const Sweep& sweep, const fs::path& folder, std::vector<std::string>& notes) {
  if (!fs::exists(folder / "STORE.json")) return;
  for (const std::string& why : refused_texts(sweep, Store::open(folder))) {
    notes.push_back("depthgrid run will refuse to begin: " + why);
  }
}

/// Status of the cells in the store, if there is one. A cell whose result is damaged is pending,
/// whatever sweep.h5 has kept of it: `run` trains it again.
std::vector<CellStatus> status_of(const Sweep& sweep, const fs::path& folder) {
  std::map<CellId, CellStatus> known;
  if (fs::exists(folder / "STORE.json")) {
    const Store store = Store::open(folder);
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

}  // namespace

int print_plan(const Sweep& sweep, const fs::path& store, std::int64_t teams, bool json) {
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
  for (const MissingLooks& missing : missing_looks(sweep, costs, store)) {
    notes.push_back(missing_looks_text(missing, sweep, store));
  }
  PlanReport report =
      make_plan_report(sweep, store.string(), status_of(sweep, store),
                       packing_options(sweep.run, teams), std::move(costs), std::move(notes));
  report.growth = growth_of(sweep, store);
  print(json ? plan_json(sweep, report) : plan_text(sweep, report, colour_of_stdout()));
  return 0;
}

}  // namespace depthgrid
