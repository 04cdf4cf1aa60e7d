#include "worker/run/team_work.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/json_text.hpp"
#include "core/base/log.hpp"
#include "models/options/model_options.hpp"
#include "sweeps/queue/failure_streak.hpp"
#include "worker/model/fused_model.hpp"
#include "worker/process/device_fault.hpp"
#include "worker/process/memory_use.hpp"
#include "worker/process/run_setup.hpp"
#include "worker/process/stop_signals.hpp"
#include "worker/run/job_retry.hpp"
#include "worker/session/cell_checkpoint.hpp"
#include "worker/session/job_session.hpp"

namespace depthgrid {
namespace {

constexpr double kPollSeconds = 0.5;  // until the next poll for a job, while others have them all

/// Seconds for which a launch waits for cells that living processes hold: until those that were
/// left free of a job that others hold in part may be taken, and until an owner that does not live
/// shows.
double patience(const LeaseKeeper& leases) {
  return std::chrono::duration<double>(leases.ttl()).count() / 3;
}

std::int64_t parameter_count(const CellConfig& config) {
  return layout_of(model_options({&config})).size();
}

/// The first rank, which claims jobs in the store, sends the others the job that all begin now.
void send_job(Collective& team, const SessionJob& job) {
  if (team.size() < 2) return;
  const nlohmann::json command = {
      {"job", job.id}, {"rows", job.rows}, {"first_step", job.first_step}};
  broadcast_text(team, json_text(command), 0);
}

/// Sends the end of the work.
void send_end(Collective& team) {
  if (team.size() > 1) broadcast_text(team, "", 0);
}

/// On the other ranks: what was sent; nothing at the end of the work.
std::optional<SessionJob> receive_job(Collective& team) {
  const std::string text = broadcast_text(team, "", 0);
  if (text.empty()) return std::nullopt;
  const auto command = parse_json(text);
  return SessionJob{command.at("job"), command.at("rows").get<std::vector<std::size_t>>(),
                    command.at("first_step")};
}

/// Ends the attempts of a job and releases its cells.
void give_back(RunContext& run, Claim& claim, std::optional<JobSession>& session,
               const AttemptProblem& problem) {
  if (session) {
    session->abandon(problem);
  } else {  // it never began: the attempt is recorded anyway
    for (ClaimedCell& cell : claim.cells) {
      if (!cell.lease.valid()) continue;
      CellRecorder(run.store, run.plan, run.plan.cells.at(cell.row), std::move(cell.lease),
                   claim.job.first_step, attempt_json(run, claim.job), {})
          .abandon(claim.job.first_step, problem);
    }
  }
  claim.cells.clear();
  session.reset();
}

AttemptProblem memory_problem(std::size_t cells, double peak) {
  return {AttemptOutcome::Oom, ExitCode::OutOfMemory,
          cells == 1 ? EventKind::Failure : EventKind::Warning, peak,
          "out of memory with " +
              (cells == 1 ? std::string("one cell alone") : fmt::format("{} cells: split", cells))};
}

AttemptProblem node_problem(const std::string& text) {
  return {AttemptOutcome::Infrastructure, ExitCode::Infrastructure, EventKind::Warning, 0, text};
}

/// Trains a claimed job as the first rank of a team, from the claim to the outcome. An error of the
/// job itself is recorded and goes to JobRetry.
/// @return true if a signal ended it.
/// @throws UserError for what concerns every cell; a fault of the device, after which this process
///         can train nothing; any error in a team of several ranks: the others wait for this one,
///         so end them all.
bool train(RunContext& run, JobRetry& retry, Claim claim) {
  std::vector<std::int64_t> generations;
  for (const ClaimedCell& cell : claim.cells) generations.push_back(cell.lease.generation());
  send_job(run.team.group(), claim.job);
  std::optional<JobSession> session;
  try {
    reset_peak_memory(run.device.device);
    run.watchdog.enter(WorkPhase::Building);
    session.emplace(run, claim.job, claim.cells);
    if (session->run() == SessionEnd::Stopped) {
      request_stop();  // also if another rank of the team got the signal: the other teams stop too
      return true;
    }
  } catch (const std::exception& problem) {
    const bool of_ranks = run.team.group().size() > 1;
    const std::string text = with_its_leaf(problem.what());
    const bool begun = session.has_value();
    if (is_out_of_memory(problem)) {
      const double peak = peak_device_memory_bytes(run.device.device);
      give_back(run, claim, session, memory_problem(claim.job.rows.size(), peak));
      if (of_ranks) throw;
      if (begun) run.progress.job_ended("out of memory");
      return retry.out_of_memory(claim.job, generations, peak);
    }
    if (is_of_machine(device_fault_of(problem))) {
      give_back(run, claim, session, node_problem(text));
      throw;
    }
    // After a kernel's fault the attempt ends as a crash.
    if (of_ranks || device_fault_of(problem) == DeviceFault::Kernel) throw;
    give_back(run, claim, session,
              {AttemptOutcome::Error, ExitCode::Failed, EventKind::Failure, 0, text});
    if (begun) run.progress.job_ended("failed");
    // A full disk or damaged data concerns every cell.
    if (dynamic_cast<const UserError*>(&problem) != nullptr) throw;
    if (retry.again(claim.job)) return false;
    retry.fail(claim.job, generations, CellStatus::Failed, "error", text);
    return false;
  }
  session.reset();
  run.progress.job_ended("done");
  return false;
}

[[noreturn]] void refuse_resume(const RunContext& run, const ClaimedCell& cell,
                                const std::string& before, const std::string& now,
                                const std::string& leaf) {
  throw UserError(
      ExitCode::BadConfig,
      fmt::format("{} was trained up to step {} with {}, this run has {}: sums would be rounded "
                  "otherwise, and it would not end with the numbers of an undisturbed run. Go on "
                  "with --set {}, or accept that with --allow-inexact, which the store records",
                  run.sweep.cells[cell.row].alias, cell.state->step, before, now, leaf));
}

}  // namespace

TeamOutcome lead_team(RunContext& run, const RunCommand& command, std::vector<FusedJob> jobs) {
  std::vector<std::vector<std::size_t>> rows;
  for (const FusedJob& job : jobs) rows.push_back(job.cells);
  run.progress.plan(std::move(rows), static_cast<std::size_t>(run.team.count()));
  LeaseKeeper leases({.ttl = std::chrono::seconds(run.sweep.run.integer("resources.lease"))},
                     run.store.fs());
  JobQueue queue(run.sweep, run.store, leases, std::move(jobs), parameter_count,
                 run.sweep.run.integer("retry.crash"));
  JobRetry retry(run, command, leases, queue);
  FailureStreak streak(run.sweep.run.integer("retry.stop_after_consecutive"));
  bool stopped = false, failing = false;
  Stopwatch waiting;
  while (!stopped && !failing) {
    const std::int64_t failed_before = queue.failed();
    run.watchdog.enter(WorkPhase::Polling);
    std::optional<Claim> claim;
    const JobQueue::State state = queue.next(claim);
    for (const auto& [row, why] : queue.take_lost()) run.progress.cell_failed(row, why);
    if (state == JobQueue::State::Finished) break;
    if (state == JobQueue::State::Claimed) {
      require_exact_resume(run, *claim);
      const std::vector<std::size_t> cells = claim->job.rows;
      stopped = train(run, retry, std::move(*claim));
      waiting = Stopwatch();
      const auto done = [&](std::size_t row) {
        return run.store.completed(run.sweep.cells[row].id);
      };
      if (std::ranges::any_of(cells, done)) streak.succeeded();
    } else if (command.mode == RunMode::Launch && waiting.seconds() > patience(leases) &&
               !queue.may_inherit()) {
      break;  // its supervisor has better use for these cores
    } else {
      stop_requested_within(kPollSeconds);
    }
    if (queue.failed() > failed_before) streak.failed();
    if (const auto why = streak.over()) {
      log(LogLevel::Error, *why);
      request_stop();  // the other teams stop, too
      failing = true;
    }
    stopped = stopped || stop_requested();
  }
  run.watchdog.enter(WorkPhase::Waiting);
  send_end(run.team.group());
  return {stopped, queue.failed(), failing ? ExitCode::Failed : retry.code()};
}

TeamOutcome follow_team(RunContext& run) {
  TeamOutcome outcome;
  while (true) {
    run.watchdog.enter(WorkPhase::Waiting);
    auto job = receive_job(run.team.group());
    if (!job) break;
    run.watchdog.enter(WorkPhase::Building);
    std::vector<ClaimedCell> none;
    reset_peak_memory(run.device.device);
    JobSession session(run, std::move(*job), none);
    outcome.stopped = session.run() == SessionEnd::Stopped || outcome.stopped;
  }
  return outcome;
}

void require_exact_resume(const RunContext& run, const Claim& claim) {
  if (run.sweep.run.flag("resources.allow_inexact")) return;
  for (const ClaimedCell& cell : claim.cells) {
    if (!cell.state) continue;
    const auto ranks = cell.state->numbers.find("ranks");
    if (ranks != cell.state->numbers.end() && static_cast<int>(ranks->second) != run.sync.ranks()) {
      const auto before = static_cast<int>(ranks->second);
      refuse_resume(run, cell, fmt::format("{} rank(s) per job", before),
                    std::to_string(run.sync.ranks()),
                    fmt::format("resources.ranks_per_job={}", before));
    }
    const auto device = cell.state->texts.find("device");
    const std::string here = kind_of(run.device.device);
    if (device != cell.state->texts.end() && device->second != here) {
      refuse_resume(run, cell, "device " + device->second, here,
                    "resources.device=" + device->second);
    }
  }
}

}  // namespace depthgrid
