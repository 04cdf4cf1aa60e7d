#include "sweeps/run/supervised_run.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/base/machine.hpp"
#include "core/base/processes.hpp"
#include "core/base/terminal.hpp"
#include "sweeps/launch/launch_plan.hpp"
#include "sweeps/launch/launch_process.hpp"
#include "sweeps/launch/launch_record.hpp"
#include "sweeps/live/display.hpp"
#include "sweeps/plan/describe_cache.hpp"
#include "sweeps/protocol/worker_command.hpp"
#include "sweeps/queue/remaining_cells.hpp"
#include "sweeps/report/failure_report.hpp"
#include "sweeps/run/cell_states.hpp"
#include "sweeps/run/foreground_run.hpp"
#include "sweeps/run/inherit_cells.hpp"
#include "sweeps/run/launch_capacity.hpp"
#include "sweeps/run/slot_count.hpp"
#include "sweeps/slurm/slurm_client.hpp"

namespace depthgrid {
namespace {

namespace fs = std::filesystem;

std::optional<std::int64_t> jobs_per_launch(const CellConfig& run) {
  if (run.is_word("packing.cells_per_launch")) return std::nullopt;
  return run.integer("packing.cells_per_launch");
}

/// @throws UserError (BadData) if a task names cells that its sweep file lacks.
void refuse_unknown(const Sweep& sweep, const std::vector<std::string>& cells) {
  std::set<std::string> unknown(cells.begin(), cells.end());
  for (const CellPlan& cell : sweep.cells) unknown.erase(cell.id);
  if (unknown.empty()) return;
  throw UserError(
      ExitCode::BadData,
      fmt::format("the task names {} of {} cells that are not in {}: {}; the file is that of "
                  "another sweep, or has changed. depthgrid submit takes them anew",
                  unknown.size(), cells.size(), sweep.file, fmt::join(unknown, ", ")));
}

/// A report for every cell of the launch that has no result, under its next generation.
void report_failures(const Sweep& sweep, const Store& store, LeaseKeeper& leases,
                     const LaunchPlan& plan, const LaunchRecord& last, const std::string& why) {
  const FailureReport report{.kind = std::string(name_of(last.end)),
                             .message = why,
                             .job = plan.id,
                             .host = last.host,
                             .last_words = last.last_words};
  const bool memory = last.end == LaunchEnd::OutOfMemory;
  for (const std::size_t row : plan.rows) {
    const CellPlan& cell = sweep.cells[row];
    if (store.completed(cell.id)) continue;
    const auto lease = leases.try_acquire(store.cell_dir(cell.id));
    if (!lease) continue;  // another process has it, and will report
    publish_report(store, cell, lease->generation(), memory ? CellStatus::Oom : CellStatus::Failed,
                   report);
  }
}

/// Launches of what is missing, and the capacity that they have.
struct PlannedLaunches {
  std::vector<LaunchPlan> launches;
  SupervisorOptions options;
  bool auto_ranks = false;  // teams have the sizes that the planner gave them
};

PlannedLaunches planned_launches(const Sweep& sweep, const SupervisedRun& run,
                                 const std::vector<bool>& wanted, const CostTable& costs,
                                 LaunchPlace& place) {
  PlannedLaunches out;
  out.options = launch_capacity(run.slots, sweep.run, place, [&](std::int64_t slots) {
    PackingOptions alone = packing_options(sweep.run, slots);
    alone.gpu = true;
    return plan_jobs(sweep.cells, wanted, alone, costs);
  });
  out.options.fail_fast = run.fail_fast;
  const std::int64_t slots = out.options.slots;
  PackingOptions packing = packing_options(sweep.run, slots);
  packing.gpu = !out.options.gpus.empty();
  packing.memory_bytes = out.options.memory_bytes / static_cast<double>(slots);
  out.launches = plan_launches(plan_jobs(sweep.cells, wanted, packing, costs), sweep.cells, slots,
                               jobs_per_launch(sweep.run));
  out.auto_ranks = packing.auto_ranks;
  return out;
}

/// Seconds from now until no launch is worth its start; NaN = no limit. Slurm's signal may come a
/// minute early, and a launch needs some time to its first step.
double seconds_for_starts(const CellConfig& run) {
  constexpr double kBeforeTheSignal = 90;  // s
  const double allocated = allocated_seconds();
  const double reserve = static_cast<double>(run.integer("slurm.signal_delay")) + kBeforeTheSignal;
  return allocated - std::min(reserve, allocated / 2);
}

/// Launches of this machine or allocation, for the cells of one store.
class SweepBackend final : public SupervisorBackend {
 public:
  /// All references outlive this. @param teams  launches have the teams that their plans name.
  SweepBackend(const SupervisedRun& run, const Sweep& sweep, const Store& store, CellStates& states,
               LeaseKeeper& leases, const LaunchPlace& place, bool teams, Display& display,
               SlotCount& slots, StopWatch& signals, EventLog& events)
      : run_(run),
        sweep_(sweep),
        store_(store),
        states_(states),
        leases_(leases),
        place_(place),
        teams_(teams),
        display_(display),
        slots_(slots),
        signals_(signals),
        events_(events),
        command_(run.request.command),
        late_(real_clock().now() + seconds_for_starts(sweep.run)) {
    command_.mode = RunMode::Launch;
    command_.progress = "quiet";
    command_.rerun.clear();
  }

  std::unique_ptr<RunningLaunch> start(const LaunchRequest& request) override {
    command_.cells = request.plan.cells;
    command_.set = run_.request.command.set;
    if (teams_) {
      command_.set.push_back(fmt::format("resources.ranks_per_job={}", request.plan.ranks));
    }
    command_.channel = LaunchProcess::channel_of(request).string();
    numbers_[request.plan.id] = number_;
    return std::make_unique<LaunchProcess>(
        request,
        launch_command(place_, worker_command("run", command_json(command_)), request.plan.ranks,
                       request.gpus),
        number_++);
  }
  std::string launcher_of(std::int64_t ranks) const override {
    return std::string(name_of(launch_command(place_, {}, ranks, {}).kind));
  }
  bool runs_alone(std::int64_t ranks) const override {
    return depthgrid::runs_alone(place_, ranks);
  }

  bool finalised(std::size_t row) override { return states_.finalised(row); }
  bool done(std::size_t row) const override { return states_.done(row); }
  std::int64_t progress(const LaunchPlan& plan) const override {
    return progress_measure(store_, plan.cells);
  }
  bool inherit(const LaunchPlan& plan) override {
    return inherit_cells(store_, leases_, plan.cells);
  }
  void report_failed(const LaunchPlan& plan, const LaunchRecord& last,
                     const std::string& why) override {
    report_failures(sweep_, store_, leases_, plan, last, why);
  }

  bool stop_asked() override {
    if (const auto why = slots_.spent_now()) display_.note(*why);
    return signals_.asked() || slots_.spent();
  }
  void notify(const std::string& line) override { display_.note(line); }
  void receive(const LiveEvent& event) override { display_.receive(event); }
  void record(SweepEvent event) override {
    if (event.kind == SweepEventKind::Stopping) event.signal = signals_.first();
    if (event.kind == SweepEventKind::LaunchEnded) {
      display_.sweep().leave(numbers_.at(event.launch));  // one that was killed has said nothing
    }
    events_.add(std::move(event));
  }

  double now() const override { return real_clock().now(); }
  double time_left() const override { return late_ - now(); }
  void wait(double seconds) override {
    display_.update();
    signals_.wait(seconds);
    slots_.count(false);
    if (signals_.insisted()) throw UserError(ExitCode::TempFail, "a second signal: left at once");
  }

 private:
  const SupervisedRun& run_;
  const Sweep& sweep_;
  const Store& store_;
  CellStates& states_;
  LeaseKeeper& leases_;
  const LaunchPlace& place_;
  bool teams_;
  Display& display_;
  SlotCount& slots_;
  StopWatch& signals_;
  EventLog& events_;
  RunCommand command_;                  // of the next launch
  int number_ = 0;                      // of it
  std::map<std::string, int> numbers_;  // of the last one of each launch, by its id
  double late_;                         // time after which no launch is worth its start
};

/// @return  0 if all is prepared; TempFail if a stop was asked for; else the worker's own code.
int prepared(const SupervisedRun& run, StopWatch& signals, EventLog& events) {
  RunCommand command = run.request.command;
  command.mode = RunMode::Prepare;
  command.cells = run.cells;
  const std::string task = this_task();
  const int code = run_in_foreground(
      {.id = kPreparationId + (task.empty() ? real_processes().self().uuid : task),
       .launch = {.name = "the preparation",
                  .command =
                      [&command](const std::string& channel) {
                        command.channel = channel;
                        return worker_command("run", command_json(command));
                      },
                  .hang = command.hang},
       .store = run.request.store,
       .cells = run.cells,
       .host = node_name(),
       .slurm_job = task,
       .restart = restart_of_task(),
       .retries = retry_options(run.request.sweep.run),
       .left_at_second = true},
      signals, events);
  return signals.asked() ? number_of(ExitCode::TempFail) : code;
}

}  // namespace

bool serves_many(const CellConfig& run) {
  const char* const nodes = std::getenv("SLURM_JOB_NUM_NODES");
  if (nodes != nullptr && std::atoi(nodes) > 1) return true;
  return run.word("resources.device") != "cpu" && this_machine().gpus.size() > 1;
}

SupervisedEnd run_supervised(const SupervisedRun& run, StopWatch& signals, EventLog& events) {
  const auto ended = [&](SupervisedEnd end) {
    events.add({.kind = SweepEventKind::SupervisorEnded, .code = end.code, .signal = end.signal});
    return end;
  };
  const int begun = prepared(run, signals, events);
  if (begun != 0) return ended({.code = begun, .signal = signals.first()});
  const Sweep sweep = run.request.planned_sweep();
  refuse_unknown(sweep, run.cells);
  const Store store = Store::open(run.request.store);
  CellStates states(sweep, store);
  LaunchPlace place = asked_place(sweep.run);
  const CostTable costs = DescribeCache().known_or_counted(sweep.cells);
  const std::vector<bool> wanted =
      remaining_cells(sweep, store, run.request.command.only, run.cells);
  auto [launches, options, auto_ranks] = planned_launches(sweep, run, wanted, costs, place);
  const DisplayStyle style = display_style(run.request.command.progress);
  if (style == DisplayStyle::Terminal) configure_log(wanted_log_level(), "", kEraseBelow);
  Display display({.style = style, .has_result = [&](std::size_t row) { return states.done(row); }},
                  style == DisplayStyle::Quiet  // it reads no states of cells that nobody sees
                      ? LiveSweep(sweep.name, {})
                      : launched_sweep(sweep, store, costs, launches, options.slots, run.cells));
  LeaseKeeper leases({.ttl = std::chrono::seconds(sweep.run.integer("resources.lease"))},
                     store.fs());
  SlotCount slots(sweep, store, !options.gpus.empty());
  SweepBackend backend(run, sweep, store, states, leases, place, auto_ranks, display, slots,
                       signals, events);
  events.add({.kind = SweepEventKind::SupervisorBegan,
              .cell_count = std::ranges::count(wanted, true),
              .launches = std::ssize(launches),
              .slots = options.slots,
              .restart = options.restart});
  Supervisor supervisor(launches, store.root(), leases, std::move(options),
                        retry_options(sweep.run), backend);
  slots.begin(supervisor);
  const ExitCode code = supervisor.run();
  slots.count(true);
  for (const std::size_t row : display.sweep().open()) {
    if (states.cancelled(row)) display.sweep().cancel(row);  // before it began
  }
  display.close();
  return ended({.code = number_of(code), .signal = signals.first(), .spent = slots.spent()});
}

}  // namespace depthgrid
