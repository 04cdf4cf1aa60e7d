#include <cmath>

#include <fmt/format.h>

#include "cli/arguments/command_line.hpp"
#include "cli/arguments/store_argument.hpp"
#include "cli/arguments/until_ci.hpp"
#include "cli/design/print_plan.hpp"
#include "cli/verbs.hpp"
#include "core/base/error.hpp"
#include "core/base/nan.hpp"
#include "core/base/parse_number.hpp"
#include "core/config/text_form.hpp"

namespace depthgrid {
namespace {

/// A number of at least `least`; `value` stays where the option is not given.
void read_real(const CommandLine& line, const char* name, double least, double& value) {
  const std::string text = line.text_of(name);
  if (text.empty()) return;
  value = parse_number<double>(text).value_or(kNaN);
  if (std::isfinite(value) && value >= least) return;
  throw UserError(ExitCode::Usage,
                  fmt::format("--{} is {}: expected a number of at least {}", name, text, least));
}

SimulationRequest simulation_of(const CommandLine& line, const CellConfig& run) {
  if (!line.has("simulate")) {
    for (const char* name : {"time-limit", "preemption", "launch", "checkpoint", "speed"}) {
      if (line.has(name)) {
        throw UserError(ExitCode::Usage, fmt::format("--{} says something about --simulate, which "
                                                     "is missing: add --simulate 4x8, or scaling",
                                                     name));
      }
    }
    return {};
  }
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
  read_real(line, "preemption", 0, model.preemptions_per_hour);
  read_real(line, "launch", 0, model.launch_seconds);
  read_real(line, "checkpoint", 1e-3, model.checkpoint_seconds);
  read_real(line, "speed", 1e-6, model.speed);
  return {cluster_sizes(line.text_of("simulate"), model), line.number_of("repetitions")};
}

}  // namespace

int plan_verb(const Arguments& arguments) {
  CommandLine line(
      "plan FILE [--store DIR] [--teams N] [--simulate CLUSTERS] [--set KEY=VALUE]... [--json]",
      "Shows the cells, the fused jobs and why cells are together, counts and costs of each\n"
      "structure, and what is already done. Nothing is trained, and no corpus is read but\na file "
      "of data.path, whose content is part of the cells' identity.");
  line.examples({"plan configs/tiny.yaml", "plan configs/quickstart.yaml --teams 4 --set seeds=5",
                 "plan configs/quickstart.yaml --simulate 1x8,16x8 --time-limit 4:00:00 "
                 "--preemption 0.05"});
  line.argument("FILE")
      .sweep_options()
      .text("store", "DIR", "store to compare with (default: results/<name of the sweep>)")
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
      .number("repetitions", 10, "of a simulation with preemptions")
      .flag("json", "print JSON");
  if (!line.parse(arguments)) return 0;
  const std::int64_t teams = line.number_of("teams");
  const Sweep sweep = load_planned_sweep(line);
  const SimulationRequest simulation = simulation_of(line, sweep.run);
  say_added_seeds(line, sweep, store_of(line, sweep));
  return print_plan(sweep, store_of(line, sweep), teams, line.has("json"), simulation);
}

}  // namespace depthgrid
