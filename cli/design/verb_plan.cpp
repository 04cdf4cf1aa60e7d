#include "cli/design/verb_plan.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "cli/arguments/command_line.hpp"
#include "cli/arguments/store_argument.hpp"
#include "cli/arguments/until_ci.hpp"
#include "cli/verbs.hpp"
#include "core/base/error.hpp"
#include "core/base/isa.hpp"
#include "core/base/machine.hpp"
#include "core/config/text_form.hpp"
#include "storage/cells/summary.hpp"
#include "storage/former_values.hpp"
#include "storage/plan_sequence.hpp"
#include "storage/store.hpp"
#include "sweeps/plan/describe_cache.hpp"
#include "sweeps/plan/missing_measurements.hpp"
#include "sweeps/plan/start_check.hpp"
#include "sweeps/plan/text_check.hpp"
#include "sweeps/report/listing.hpp"
#include "sweeps/run/budget_check.hpp"
#include "sweeps/simulate/scaling.hpp"

namespace depthgrid {
namespace {

namespace fs = std::filesystem;

/// Notes on what `run` will not accept in this store, and what of it does not count.
std::vector<std::string> refusals_of(const Sweep& sweep, const Store& store) {
  std::vector<std::string> notes;
  for (const std::string& why : refused_texts(sweep, store)) {
    notes.push_back("depthgrid run will refuse to begin: " + why);
  }
  for (std::string& why : disregard_former(store, sweep)) {
    notes.push_back(std::move(why) + "; depthgrid run trains it again");
  }
  notes.push_back(former_names_note(store, sweep));
  return notes;
}

/// Status of the cells in the store, if there is one with a plan. A cell whose result is damaged is
/// pending, whatever sweep.h5 has kept of it: `run` trains it again.
std::vector<CellStatus> status_of(const Sweep& sweep, const std::optional<Store>& store) {
  std::map<CellId, CellStatus> known;
  if (store && has_plan(*store)) {
    for (const CellSummary& cell : summarise(*store, read_plan(*store))) {
      const bool again = is_result(cell.status) && !store->completed(cell.id);
      known[cell.id] = again ? CellStatus::Pending : cell.status;
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
  const std::vector<ScalingRow> rows =
      scaling_of(job_cells(sweep.cells, report.costs), to_train(report.status), report.packing,
                 report.costs, request.clusters, request.repetitions);
  report.simulation = scaling_text(rows, colour_of_stdout());
  report.simulation_json = scaling_json(rows);
}

/// As far as this machine knows: with "cuda" the run is meant for another one.
bool plans_for_cpu(const CellConfig& run) {
  const std::string& device = run.word("resources.device");
  return device == "cpu" || (device == "auto" && this_machine().gpus.empty());
}

SimulationRequest simulation_of(const CommandLine& line, const CellConfig& run) {
  if (!line.has("simulate")) return {};
  ClusterModel model;
  if (line.has("time-limit")) {
    const auto limit = seconds_of(line.text_of("time-limit"));
    if (!limit || *limit <= 0) {
      throw UserError(
          ExitCode::Usage,
          fmt::format("--time-limit is {}: expected a time as sbatch reads it: 4:00:00, "
                      "2-12:00:00 or minutes",
                      line.text_of("time-limit")));
    }
    model.time_limit = static_cast<double>(*limit);
  }
  const Value& every = run.at("checkpoint.every_seconds");
  if (every.is_number()) model.checkpoint_seconds = every.number();
  model.preemptions_per_hour = line.real_of("preemption", model.preemptions_per_hour, 0);
  model.launch_seconds = line.real_of("launch", model.launch_seconds, 0);
  model.checkpoint_seconds = line.real_of("checkpoint", model.checkpoint_seconds, 1e-3);
  model.speed = line.real_of("speed", model.speed, 1e-6);
  return {cluster_sizes(line.text_of("simulate"), model), line.number_of("repetitions")};
}

}  // namespace

int print_plan(const Sweep& sweep, const fs::path& store, std::int64_t teams, bool json,
               const SimulationRequest& request) {
  isa_in_use();  // a wrong DEPTHGRID_ISA ends this with its own message, not the worker's
  CostTable costs;
  const DescribeCache cache;
  std::vector<std::string> notes = {check_starts(sweep, cache)};
  try {
    costs = cache.costs(sweep.cells);
  } catch (const Error& e) {
    notes.push_back(std::string("costs are unknown: ") + e.what());
  }
  std::optional<Store> there;
  if (Store::is_at(store)) there = Store::open(store);
  if (there) std::ranges::move(refusals_of(sweep, *there), std::back_inserter(notes));
  notes.push_back(other_probe_leaf_text(sweep, store));
  for (const MissingMeasurements& missing : missing_measurements(sweep, costs, store)) {
    notes.push_back(missing_measurements_text(missing, sweep, store));
  }
  std::ranges::move(blind_probes(sweep, costs), std::back_inserter(notes));
  notes.push_back(
      slow_precision(sweep, plans_for_cpu(sweep.run), has_bf16_products()).value_or(""));
  std::erase(notes, "");
  PlanReport report =
      make_plan_report(sweep, store.string(), status_of(sweep, there),
                       packing_options(sweep.run, teams), std::move(costs), std::move(notes));
  report.growth = growth_of(sweep, store);
  if (!request.clusters.empty()) add_simulation(sweep, request, report);
  const std::string refused = add_budgets(sweep, store, report);
  print(json ? plan_json(sweep, report) : plan_text(sweep, report, colour_of_stdout()));
  if (!refused.empty()) throw UserError(ExitCode::BadConfig, refused);
  return 0;
}

int plan_verb(const Arguments& arguments) {
  CommandLine line(
      "plan FILE [--store DIR] [--teams N] [--simulate CLUSTERS] [--set KEY=VALUE]... [--json]",
      "Shows the cells, the fused jobs and why cells are together, counts and costs of each\n"
      "structure, and what is already done. Nothing is trained, and no corpus is read but\na file "
      "of data.path, whose content is part of the cells' identity.");
  line.examples({"plan configs/tiny.yaml", "plan configs/quickstart.yaml --teams 4 --set seeds=5",
                 "plan configs/quickstart.yaml --simulate 1x8,16x8 --time-limit 4:00:00 "
                 "--preemption 0.05"});
  sweep_file_options(line)
      .number("teams", 1,
              "jobs that train at the same time: ranks of mpirun over resources.ranks_per_job")
      .text(
          "simulate", "CLUSTERS",
          "simulate the sweep on clusters of NODESxGPUS, as 1x8,16x8; or scaling: 1 to 1,024 GPUs")
      .text("time-limit", "H:MM:SS", "of an allocation, which is one node (default: none)")
      .text("preemption", "RATE", "preemptions of a node per hour (default: 0)")
      .text("launch", "SECONDS", "start of a job's processes (default: 1)")
      .text("checkpoint", "SECONDS",
            "time between checkpoints (default: checkpoint.every_seconds; 60 for auto)")
      .text("speed", "TIMES", "how many times faster a device is than this machine's (default: 1)")
      .number("repetitions", 10, "of a simulation with preemptions");
  for (const char* of :
       {"time-limit", "preemption", "launch", "checkpoint", "speed", "repetitions"}) {
    line.needs(of, "simulate");
  }
  if (!line.json().parse(arguments)) return 0;
  const std::int64_t teams = line.number_of("teams");
  const Sweep sweep = load_planned_sweep(line);
  const SimulationRequest simulation = simulation_of(line, sweep.run);
  report_added_seeds(line, sweep, store_of(line, sweep));
  return print_plan(sweep, store_of(line, sweep), teams, line.has("json"), simulation);
}

}  // namespace depthgrid
