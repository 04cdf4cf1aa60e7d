#include <map>

#include "cli/command_line.hpp"
#include "cli/plan_sweep.hpp"
#include "cli/store_argument.hpp"
#include "cli/verbs.hpp"
#include "core/base/error.hpp"
#include "core/base/subprocess.hpp"
#include "storage/cells/summary.hpp"
#include "storage/plan_file.hpp"
#include "sweeps/plan/describe_cache.hpp"
#include "sweeps/plan/start_check.hpp"

namespace depthgrid {
namespace {

namespace fs = std::filesystem;

/// Status of the cells in the store, if there is one.
std::vector<CellStatus> status_of(const Sweep& sweep, const fs::path& folder) {
  std::map<CellId, CellStatus> known;
  if (fs::exists(folder / "STORE.json")) {
    const Store store = Store::open(folder);
    if (has_plan(store)) {
      for (const CellSummary& cell : summarise(store, read_plan(store)))
        known[cell.id] = cell.status;
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
  const DescribeCache cache(program_beside("depthgrid-worker"), default_cache_folder());
  const std::string unchecked = check_starts(sweep, cache);
  if (!unchecked.empty()) notes.push_back(unchecked);
  try {
    costs = cache.costs(sweep.cells);
  } catch (const Error& e) {
    notes.push_back(std::string("costs are unknown: ") + e.what());
  }
  const PlanReport report =
      make_plan_report(sweep, store.string(), status_of(sweep, store),
                       packing_options(sweep.run, teams), std::move(costs), std::move(notes));
  print(json ? plan_json(sweep, report) : plan_text(sweep, report));
  return 0;
}

int plan_verb(const Arguments& arguments) {
  CommandLine line(
      "plan FILE [--store DIR] [--teams N] [--set KEY=VALUE]... [--json]",
      "Shows the cells, the fused jobs and why cells are together, counts and costs of each\n"
      "structure, and what is already done. No corpus is needed; nothing is trained.");
  line.argument("FILE")
      .sweep_options()
      .text("store", "DIR", "store to look into (default: results/<name of the sweep>)")
      .number("teams", 1,
              "jobs that train at the same time: ranks of mpirun over resources.ranks_per_job")
      .flag("json", "print JSON");
  if (!line.parse(arguments)) return 0;
  const std::int64_t teams = line.number_of("teams");
  const Sweep sweep = load_planned_sweep(line);
  return print_plan(sweep, store_of(line, sweep), teams, line.has("json"));
}

}  // namespace depthgrid
