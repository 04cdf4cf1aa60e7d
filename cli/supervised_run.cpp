#include "cli/supervised_run.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/cell_states.hpp"
#include "cli/launch_room.hpp"
#include "cli/slot_count.hpp"
#include "cli/store_argument.hpp"
#include "cli/verbs.hpp"
#include "cli/worker_command.hpp"
#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/base/machine.hpp"
#include "sweeps/launch/launch_process.hpp"
#include "sweeps/live/live_screen.hpp"
#include "sweeps/plan/describe_cache.hpp"
#include "sweeps/queue/cell_orders.hpp"
#include "sweeps/report/chosen_cells.hpp"
#include "sweeps/report/failure_report.hpp"
#include "sweeps/run/inherit_cells.hpp"
#include "sweeps/run/preparation.hpp"
#include "sweeps/slurm/slurm_client.hpp"

namespace depthgrid {
namespace {

namespace fs = std::filesystem;

std::optional<std::int64_t> jobs_per_launch(const CellConfig& run) {
  if (run.is_word("packing.cells_per_launch")) return std::nullopt;
  return run.integer("packing.cells_per_launch");
}

/// @param named  ids of the cells of a task, which shows no others; empty: all.
LiveSweep live_sweep_of(const Sweep& sweep, const std::vector<std::string>& named,
                        const CellStates& states, const CostTable& costs) {
  const std::set<std::string> ours(named.begin(), named.end());
  std::vector<LiveCell> cells;
  for (std::size_t row = 0; row < sweep.cells.size(); ++row) {
    const CellPlan& plan = sweep.cells[row];
    LiveCell& cell = cells.emplace_back();
    cell.alias = plan.alias;
    cell.structure = plan.structure;
    cell.steps = plan.config.integer("train.steps");
    cell.done = states.done(row);
    cell.counted = ours.empty() || ours.contains(plan.id);
    if (cell.done) continue;
    const auto cost = costs.find(plan.structure);
    if (cost != costs.end()) cell.predicted = predicted_times(plan.config, cost->second);
    cell.made = states.checkpoint(row);
  }
  return {sweep.name, std::move(cells)};
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

/// Cells that this run is to train.
std::vector<bool> wanted_rows(const Sweep& sweep, const SupervisedRun& request,
                              const CellStates& states) {
  std::vector<bool> wanted = chosen_cells(sweep, request.order.only);
  const std::set<std::string> named(request.cells.begin(), request.cells.end());
  for (std::size_t row = 0; row < sweep.cells.size(); ++row) {
    const bool ours = named.empty() || named.contains(sweep.cells[row].id);
    wanted[row] = wanted[row] && ours && !states.done(row) && !states.cancelled(row);
  }
  return wanted;
}

/// A report for every cell of the launch that has no result, under its next generation.
void report_failures(const Sweep& sweep, const Store& store, LeaseKeeper& leases,
                     const LaunchPlan& plan, const LaunchRecord& last, const std::string& why) {
  for (const std::size_t row : plan.rows) {
    const CellPlan& cell = sweep.cells[row];
    if (store.completed(cell.id)) continue;
    const auto lease = leases.try_acquire(store.cell_dir(cell.id));
    if (!lease) continue;  // another process has it, and will tell
    const FailureReport report{.kind = std::string(name_of(last.end)),
                               .message = why,
                               .job = plan.id,
                               .host = last.host,
                               .last_words = last.last_words};
    const bool memory = last.end == LaunchEnd::OutOfMemory;
    store.publish_failure(cell.id, lease->generation(),
                          memory ? CellStatus::Oom : CellStatus::Failed,
                          failure_json(store, cell.id, report));
    log(LogLevel::Error, cell.alias + ": " + why);
  }
}

/// Launches of what is missing, and the room that they have.
struct PlannedLaunches {
  std::vector<LaunchPlan> launches;
  SupervisorOptions options;
  bool auto_ranks = false;  // teams have the sizes that the planner gave them
};

PlannedLaunches planned_launches(const Sweep& sweep, const SupervisedRun& request,
                                 const std::vector<bool>& wanted, const CostTable& costs,
                                 LaunchPlace& place) {
  PlannedLaunches out;
  out.options = room_for(request.slots, sweep.run, place, [&](std::int64_t slots) {
    PackingOptions alone = packing_options(sweep.run, slots);
    alone.gpu = true;
    return plan_jobs(sweep.cells, wanted, alone, costs);
  });
  out.options.fail_fast = request.fail_fast;
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

std::vector<std::vector<std::size_t>> rows_of(const std::vector<LaunchPlan>& launches) {
  std::vector<std::vector<std::size_t>> out;
  for (const LaunchPlan& launch : launches) out.push_back(launch.rows);
  return out;
}

}  // namespace

CommandLine& supervision_options(CommandLine& line) {
  return line
      .number("jobs,j", 0,
              "jobs that train at the same time, each a process; 0: as the machine has")
      .flag("fail-fast", "with -j: stop when the first cell has failed");
}

SupervisedRun supervised_run(const CommandLine& line, RunOrder order, const CellConfig& run) {
  SupervisedRun out{.order = std::move(order),
                    .run = run,
                    .slots = {},
                    .cells = {},
                    .fail_fast = line.has("fail-fast")};
  if (const std::int64_t jobs = line.number_of("jobs", 0); jobs > 0) out.slots = jobs;
  return out;
}

RetryOptions retry_options(const CellConfig& run) {
  return {.budget = [&run](std::string_view leaf) { return run.integer(leaf); },
          .backoff = run.real("retry.backoff"),
          .breaker_failures = run.integer("retry.breaker_failures"),
          .breaker_window = static_cast<double>(run.integer("retry.breaker_window")),
          .stop_after_consecutive = run.integer("retry.stop_after_consecutive")};
}

bool serves_many(const CellConfig& run) {
  const char* const nodes = std::getenv("SLURM_JOB_NUM_NODES");
  if (nodes != nullptr && std::atoi(nodes) > 1) return true;
  return run.word("resources.device") != "cpu" && this_machine().gpus.size() > 1;
}

SupervisedEnd run_supervised(const CommandLine& line, const SupervisedRun& request,
                             StopWatch& signals, EventLog& events) {
  const auto ended = [&](SupervisedEnd end) {
    events.add({.kind = SweepEventKind::SupervisorEnded, .code = end.code, .signal = end.signal});
    return end;
  };
  RunOrder prepare = request.order;
  prepare.mode = RunMode::Prepare;
  prepare.cells = request.cells;
  const PreparationEnd prepared =
      prepare_sweep({.command =
                         [&prepare](const std::string& board) {
                           prepare.board = board;
                           return worker_command("run", order_text(prepare));
                         },
                     .store = request.order.store,
                     .cells = request.cells,
                     .host = node_name(),
                     .slurm_job = this_task(),
                     .restart = restart_of_task(),
                     .hang = request.order.hang,
                     .retries = retry_options(request.run)},
                    signals, events);
  if (prepared.code != 0) return ended({.code = prepared.code, .signal = signals.first()});
  const Sweep sweep = load_planned_sweep(line);
  refuse_unknown(sweep, request.cells);
  const Store store = Store::open(request.order.store);
  CellStates states(sweep, store);
  LaunchPlace place = asked_place(sweep.run);
  const CostTable costs = DescribeCache().known_or_counted(sweep.cells);
  const std::vector<bool> wanted = wanted_rows(sweep, request, states);
  auto [launches, options, auto_ranks] = planned_launches(sweep, request, wanted, costs, place);
  LiveScreen screen(request.order.progress, live_sweep_of(sweep, request.cells, states, costs));
  screen.sweep().plan(rows_of(launches), static_cast<std::size_t>(options.slots));
  LeaseKeeper leases({.ttl = std::chrono::seconds(sweep.run.integer("resources.lease"))},
                     store.fs());
  const Stopwatch clock;
  SlotCount slots(sweep, store, !options.gpus.empty());
  int number = 0;
  RunOrder order = request.order;
  order.mode = RunMode::Launch;
  order.progress = "quiet";
  order.rerun.clear();
  SupervisorWorld world;
  world.start = [&, teams = auto_ranks](const LaunchTicket& ticket) {
    order.cells = ticket.plan.cells;
    order.set = request.order.set;
    if (teams) {  // a launch has the team that its cells were given
      order.set.push_back(fmt::format("resources.ranks_per_job={}", ticket.plan.ranks));
    }
    order.board = LaunchProcess::board_of(ticket).string();
    const LaunchCommand command = launch_command(place, worker_command("run", order_text(order)),
                                                 ticket.plan.ranks, ticket.gpus);
    return std::make_unique<LaunchProcess>(ticket, command, number++);
  };
  world.settled = [&](std::size_t row) { return states.settled(row); };
  world.done = [&](std::size_t row) { return states.done(row); };
  world.checkpoint = [&](std::size_t row) { return states.checkpoint(row); };
  world.stop_asked = [&] {
    if (const auto why = slots.spent_now()) screen.say(*why);
    return signals.asked() || slots.spent();
  };
  world.say = [&](const std::string& text) { screen.say(text); };
  world.hear = [&](const LiveEvent& event) {
    screen.hear(event);
    if (event.kind != LiveKind::JobEnd) return;
    for (const std::size_t row : event.rows) {
      if (states.done(row)) screen.finish(row);
    }
  };
  world.record = [&](SweepEvent event) {
    if (event.kind == SweepEventKind::Stopping) event.signal = signals.first();
    events.add(std::move(event));
  };
  world.now = [&] { return clock.seconds(); };
  world.time_left = [&, end = clock.seconds() + seconds_for_starts(sweep.run)] {
    return end - clock.seconds();
  };
  world.wait = [&](double seconds) {
    screen.turn();
    signals.wait(seconds);
    slots.count(false);
    if (signals.insisted()) throw UserError(ExitCode::TempFail, "a second signal: left at once");
  };
  world.inherit = [&](const LaunchPlan& plan) { return inherit_cells(store, leases, plan.cells); };
  world.set_aside = [&](const LaunchPlan& plan, const LaunchRecord& last, const std::string& why) {
    report_failures(sweep, store, leases, plan, last, why);
  };
  options.launcher = [&](std::int64_t ranks) {
    return std::string(name_of(launch_command(place, {}, ranks, {}).kind));
  };
  events.add({.kind = SweepEventKind::SupervisorBegan,
              .cell_count = std::ranges::count(wanted, true),
              .launches = std::ssize(launches),
              .slots = options.slots,
              .restart = options.restart});
  Supervisor supervisor(std::move(launches), store.root(), leases, std::move(options),
                        retry_options(sweep.run), std::move(world));
  slots.begin(supervisor);
  const ExitCode code = supervisor.run();
  slots.count(true);
  for (const std::size_t row : screen.sweep().open()) {
    if (states.cancelled(row)) screen.sweep().cancel(row);  // before it began
  }
  screen.close();
  return ended({.code = number_of(code), .signal = signals.first(), .spent = slots.spent()});
}

}  // namespace depthgrid
