#include "worker/run/run_service.hpp"

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/fault_point.hpp"
#include "core/base/log.hpp"
#include "core/base/output.hpp"
#include "core/base/printable.hpp"
#include "core/base/subprocess.hpp"
#include "core/base/ticker.hpp"
#include "distributed/agree.hpp"
#include "distributed/device_map.hpp"
#include "distributed/mpi_env.hpp"
#include "sweeps/launch/failure_class.hpp"
#include "sweeps/plan/budget.hpp"
#include "sweeps/run/run_end.hpp"
#include "worker/process/budget_guard.hpp"
#include "worker/process/crash_mark.hpp"
#include "worker/process/device_fault.hpp"
#include "worker/process/end_note.hpp"
#include "worker/process/life_reporter.hpp"
#include "worker/process/memory_use.hpp"
#include "worker/process/quit_report.hpp"
#include "worker/process/stop_signals.hpp"
#include "worker/process/watchdog.hpp"
#include "worker/run/sweep_plan.hpp"
#include "worker/run/team_work.hpp"
#include "worker/session/run_context.hpp"

namespace depthgrid {
namespace {

/// The jobs of this run, the same on every team.
std::vector<FusedJob> planned_jobs(const Sweep& sweep, const std::vector<bool>& wanted,
                                   RunContext& run, int local_size) {
  PackingOptions packing = packing_options(sweep.run, run.team.count());
  packing.ranks_per_job = run.ranks_per_job;
  packing.auto_ranks = false;  // all teams of a run are equal
  // A GPU's memory limit is found by running: a job that does not fit is split.
  if (run.device.device.is_cpu()) packing.memory_bytes = usable_memory_bytes(local_size);
  return plan_jobs(sweep.cells, wanted, packing, run.quick_costs);
}

/// Tells of leaves that have no effect on the device which was found.
void report_device(const Sweep& sweep, const RunContext& run) {
  const bool asked = std::ranges::any_of(sweep.cells, [](const CellPlan& cell) {
    return cell.config.word("train.precision") == "tf32";
  });
  if (asked && run.device.device.is_cpu()) {
    log(LogLevel::Warning, "train.precision: a CPU has no tf32; these cells compute in fp32");
  }
}

/// Tells of cells, of those that are to be trained, whose gradients are not those of their loss.
void report_gradients(const Sweep& sweep, const std::vector<bool>& wanted) {
  std::int64_t approximate = 0, measured = 0;
  for (std::size_t i = 0; i < sweep.cells.size(); ++i) {
    const CellConfig& config = sweep.cells[i].config;
    if (!wanted[i] || config.word("model.gradient.mode") != "adjoint") continue;
    ++approximate;
    measured += config.at("probes.gradients.schedule") == Value("off") ? 0 : 1;
  }
  if (approximate == 0) return;
  log(LogLevel::Info,
      fmt::format(
          "model.gradient.mode: adjoint: gradients are approximate (cells to train: {}); {}",
          approximate,
          measured == approximate
              ? "`gradient_adjoint_error` in the results is their error"
              : "where `probes.gradients.schedule` is off, nothing says how wrong they are"));
}

/// Who watches other processes enforces the budgets for them.
bool watches_budget(const RunCommand& command, const Collective& world, const Sweep& sweep) {
  return world.rank() == 0 && command.mode == RunMode::Run && has_budget(sweep.run);
}

/// Trains what a sweep is missing, as one rank of `world`. A run ends when every cell is done, by
/// any run.
/// @throws UserError for what the user can fix, before anything is trained.
ExitCode run_sweep(const RunCommand& command, Collective& world, int local_rank, int local_size,
                   Watchdog& watchdog) {
  watchdog.enter(WorkPhase::Planning);
  const Sweep sweep = planned_sweep(command, world);
  watchdog.enter(WorkPhase::StartUp);
  const Store store = opened_store(command, world);
  RunContext run(command, sweep, store, world, local_rank, local_size, watchdog);
  mark_crashes(store.crash_mark(this_process()));
  publish_sweep(command, world, sweep, store, run.progress);
  begin_again(command, world, sweep, store, run.progress);
  if (world.rank() == 0) report_device(sweep, run);
  const std::vector<bool> wanted = wanted_cells(command, world, sweep, store);
  if (world.rank() == 0 && command.plans()) report_gradients(sweep, wanted);
  watchdog.enter(WorkPhase::Auditing);
  run.permit = pass_audits(world, sweep, wanted, usable_memory_bytes(local_size) / 2, run.progress);
  std::optional<BudgetGuard> budget;
  std::optional<Ticker> spending;
  if (watches_budget(command, world, sweep)) {
    budget.emplace(sweep, store, world.size(), real_clock().now(), [](const std::string& why) {
      request_stop();  // first: a terminal may take no line
      log(LogLevel::Error, why);
    });
    budget->tick(real_clock().now());  // before anything is trained
    spending.emplace(
        "budget", BudgetGuard::kPeriod, [&](double now) { budget->tick(now); },
        [&](double now) { budget->end(now); });
  }
  watchdog.enter(WorkPhase::Waiting);  // what has no team, or is over, waits for all others
  TeamOutcome outcome{.stopped = on_any(world, run.permit.stopped || stop_requested())};
  if (!outcome.stopped && !run.team.idle() && command.mode != RunMode::Prepare) {
    outcome = run.team.leads()
                  ? lead_team(run, command, planned_jobs(sweep, wanted, run, local_size))
                  : follow_team(run);
  }
  if (world.rank() != 0) run.progress.close();
  const bool stopped = on_any(world, outcome.stopped);
  const bool failing = on_any(world, outcome.code == ExitCode::Failed);
  run.progress.close();  // the first rank's, when all others have reported their last news
  std::int64_t failed = total(world, outcome.failed);
  // Without a launcher, the program that started this one does it.
  const bool concludes = under_launcher() && command.mode == RunMode::Run;
  if (world.rank() == 0 && concludes) {
    failed += report_outcome(store, sweep, command.store, stopped, command.progress);
  }
  failed = largest(world, failed);
  log_quietly(LogLevel::Info,
              stopped ? "stopped: the same command resumes it" : "nothing left to do");
  if (failing) return ExitCode::Failed;  // retry.stop_after_consecutive
  if (stopped) return ExitCode::TempFail;
  if (outcome.code != ExitCode::Done) return outcome.code;
  return failed > 0 ? ExitCode::Partial : ExitCode::Done;
}

/// s for which who loses a connection leaves the note of the end to the rank that has broken it.
constexpr double kForTheCulprit = 1;
/// s for which a rank leaves the report of its error to the first rank, which ends the others.
constexpr double kForTheFirst = 2;

/// Reports an error that ends this rank, and with it all others. Several may meet the same one at
/// the same moment, such as a refused resume: then the first rank reports it, and ends those that
/// wait.
void report_alone(const Collective& world, const UserError& error) {
  const bool waits = world.rank() != 0 && !stop_requested();
  const bool reported = waits && stop_requested_within(kForTheFirst);
  (reported ? log_quietly : log)(LogLevel::Error, error.what());
}

/// run_sweep(); an error that nobody expected counts as a crash of the cells that it ends, a kernel
/// that went astray as what it would be on the host: a fault that ends the process.
/// @throws UserError (Infrastructure, OutOfMemory) for what is no fault of the cells: who watches
///         this process starts it again, elsewhere or with fewer cells.
ExitCode run_marked(const RunCommand& command, Collective& world, int local_rank, int local_size,
                    Watchdog& watchdog) {
  try {
    return run_sweep(command, world, local_rank, local_size, watchdog);
  } catch (const UserError&) {
    throw;
  } catch (const std::exception& e) {
    if (is_out_of_memory(e)) {
      const bool alone = world.size() > 1 && command.mode == RunMode::Run;
      throw UserError(
          ExitCode::OutOfMemory,
          fmt::format("{}{:.0f} MB; {}{}", kOutOfMemoryWords, largest_peak_bytes() / 1e6, e.what(),
                      alone ? "; what is recorded is kept. Teams of several ranks split nothing: "
                              "set packing.fuse lower, or let depthgrid run -j N start them, which "
                              "splits the job"
                            : ""));
    }
    const DeviceFault fault = device_fault_of(e);
    if (is_of_machine(fault)) {
      // Who loses a connection does not know which of its ends is at fault.
      if (fault == DeviceFault::Link) {
        real_clock().wait(kForTheCulprit);
        note_end(static_cast<int>(ExitCode::Infrastructure), false);
      }
      throw NodeError(
          ExitCode::Infrastructure, "card",
          fmt::format("{}: a fault of a card, its driver or the network; what is recorded is kept, "
                      "and the same command goes on from the last checkpoint",
                      e.what()));
    }
    if (fault == DeviceFault::Kernel) {
      log(LogLevel::Error, fmt::format("{}: a kernel of this program went astray", e.what()));
      std::abort();
    }
    mark_crash();
    throw;
  }
}

void note_error(const UserError& error) {
  const auto* const of_node = dynamic_cast<const NodeError*>(&error);
  note_end(static_cast<int>(error.code()), true, of_node == nullptr ? "" : of_node->cause());
}

}  // namespace

int run(const RunCommand& command, int argc, char** argv) {
  watch_stop_signals();
  if (!command.channel.empty()) note_ends_in(std::filesystem::path(command.channel) / kEndNote);
  // Before MPI, which waits for every rank.
  Watchdog watchdog(hang_limit(command.hang), end_hung);
  const QuitReport report(watchdog, launcher_rank());
  const Ticker watch("watchdog", Watchdog::kPeriod, [&](double now) { watchdog.tick(now); });
  std::optional<LifeReporter> life;
  std::optional<Ticker> signs;
  if (!command.channel.empty() && launcher_rank() == 0) {
    life.emplace(watchdog, command.channel);
    signs.emplace("signs of life", LifeReporter::period(command.hang),
                  [&](double) { life->tick(); });
  }
  FaultPoint().pass(0, command.cells);
  if (!under_launcher()) {
    try {
      return static_cast<int>(run_marked(command, *make_self_collective(), 0, 1, watchdog));
    } catch (const UserError& e) {
      note_error(e);
      throw;
    }
  }
  MpiEnv mpi(argc, argv);
  const auto world = mpi.world();
  configure_log(wanted_log_level(),
                world->size() > 1 ? "rank " + std::to_string(world->rank()) : "");
  try {
    if (const auto problem = world_size_problem(world->size())) {
      throw UserError(ExitCode::BadConfig, *problem);
    }
    return static_cast<int>(
        run_marked(command, *world, mpi.local_rank(), mpi.local_size(), watchdog));
  } catch (const SharedError& e) {  // all ranks are here: one of them reports it
    if (world->rank() == 0) log(LogLevel::Error, e.what());
    world->barrier();
    return static_cast<int>(e.code());
  } catch (const UserError& e) {  // the other ranks wait for this one: end them too
    note_error(e);                // at once: others lose their connections to this rank
    report_alone(*world, e);
    MpiEnv::abort(e.code());
  } catch (const std::exception& e) {
    log(LogLevel::Error, e.what());
    note_end(static_cast<int>(ExitCode::Failed));
    MpiEnv::abort(ExitCode::Failed);
  }
}

}  // namespace depthgrid
