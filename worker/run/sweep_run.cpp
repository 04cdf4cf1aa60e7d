#include "worker/run/sweep_run.hpp"

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/base/subprocess.hpp"
#include "distributed/agree.hpp"
#include "sweeps/report/run_summary.hpp"
#include "worker/process/memory_use.hpp"
#include "worker/run/run_resources.hpp"
#include "worker/run/sweep_plan.hpp"
#include "worker/run/team_work.hpp"

namespace depthgrid {
namespace {

/// The jobs of this run, the same on every team.
std::vector<FusedJob> planned_jobs(const Sweep& sweep, const std::vector<bool>& wanted,
                                   RunResources& mine, int local_size) {
  PackingOptions packing = packing_options(sweep.run, mine.team().count());
  // A GPU's memory limit is found by running: a job that does not fit is split.
  if (mine.device().is_cpu()) packing.memory_bytes = usable_memory_bytes(local_size);
  return plan_jobs(sweep.cells, wanted, packing, mine.quick_costs());
}

/// Packs the store and reports the outcome of the run on stderr. @return  cells that have failed.
std::int64_t conclude(const RunOrder& order, const Store& store, bool stopped) {
  const RunSummary summary = conclude_run(store, order.store, stopped);
  for (const std::string& problem : summary.problems) log(LogLevel::Warning, problem);
  const bool json = order.progress == "json";
  fmt::print(stderr, "{}\n", json ? summary_json(summary) : summary_text(summary));
  return summary.failed;
}

}  // namespace

ExitCode run_sweep(const RunOrder& order, Collective& world, int local_rank, int local_size) {
  const Sweep sweep = planned_sweep(order, world);
  const Store store = planned_store(order, world, sweep);
  RunResources mine(order, sweep, store, world, local_rank, local_size);
  const std::vector<bool> wanted = wanted_cells(order, world, sweep, store);
  const AuditPermit permit =
      pass_audits(world, sweep, wanted, usable_memory_bytes(local_size) / 2, mine.progress());
  TeamOutcome outcome{.stopped = permit.stopped};
  if (!permit.stopped && !mine.team().idle()) {
    const RunContext run = mine.context(permit);
    outcome = mine.team().leads()
                  ? lead_team(run, order, planned_jobs(sweep, wanted, mine, local_size))
                  : follow_team(run);
  }
  const bool stopped = on_any(world, outcome.stopped);
  std::int64_t failed = total(world, outcome.failed);
  // Without a launcher, the program that started this one does it.
  if (world.rank() == 0 && under_launcher()) failed += conclude(order, store, stopped);
  failed = largest(world, failed);
  log_quietly(LogLevel::Info, stopped ? "stopped: the same command goes on" : "nothing left to do");
  if (stopped) return ExitCode::TempFail;
  if (outcome.code != ExitCode::Done) return outcome.code;
  return failed > 0 ? ExitCode::Partial : ExitCode::Done;
}

}  // namespace depthgrid
