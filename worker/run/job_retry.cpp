#include "worker/run/job_retry.hpp"

#include <csignal>

#include <fmt/format.h>
#include <malloc.h>

#include <c10/core/CachingDeviceAllocator.h>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/last_lines.hpp"
#include "core/base/machine.hpp"
#include "sweeps/launch/foreground_launch.hpp"
#include "sweeps/protocol/worker_command.hpp"
#include "sweeps/queue/cell_requests.hpp"
#include "sweeps/report/failure_report.hpp"
#include "worker/process/stop_signals.hpp"

namespace depthgrid {
namespace {

/// Trains one cell of the command in a separate process outside any launcher, free of this
/// process's fragmented memory or broken device, and on the same GPU. Frees cached memory first,
/// waits for the process to end and passes a stop on to it.
/// @return  its exit code, 128 + n for a signal; OutOfMemory also if the system killed it for its
///          memory use.
int train_apart(RunCommand command, const CellPlan& cell, const RunContext& run) {
  constexpr double kPoll = 0.05;  // s
  command.mode = RunMode::Apart;
  command.cells = {cell.id};
  command.progress = "quiet";  // this process goes on drawing
  malloc_trim(0);
  if (run.device.device.is_cuda()) at::getDeviceAllocator(at::kCUDA)->emptyCache();
  ForegroundLaunch launch({.name = cell.alias + " in a new process",
                           .command =
                               [&](const std::string& channel) {
                                 command.channel = channel;
                                 return worker_command("run", command_json(command));
                               },
                           .variables = variables_of_one_card(run.device),
                           .hang = command.hang});
  bool passed_on = false;
  while (true) {
    if (const auto end = launch.tick()) {
      if (end->hung) return number_of(ExitCode::Hang);
      return end->code == 128 + SIGKILL ? number_of(ExitCode::OutOfMemory) : end->code;
    }
    run.watchdog.beat();  // it is judged by its own signs of life
    if (!passed_on && stop_requested()) {
      launch.pass_on(SIGTERM);
      passed_on = true;
    }
    real_clock().wait(kPoll);
  }
}

}  // namespace

void JobRetry::fail(const SessionJob& job, const std::vector<std::int64_t>& generations,
                    CellStatus status, const std::string& kind, const std::string& message) {
  const FailureReport report{.kind = kind,
                             .message = message,
                             .job = job.id,
                             .host = node_name(),
                             .last_words = last_lines(run_.store.log_dir() / run_.logs.front(),
                                                      kLastWords, run_.store.fs())};
  std::vector<std::size_t> lost;
  for (std::size_t i = 0; i < job.rows.size(); ++i) {
    const CellPlan& cell = run_.sweep.cells[job.rows[i]];
    // It has diverged, or another process has finished it.
    if (run_.store.completed(cell.id)) continue;
    if (is_cancelled(run_.store, cell.id, generations.at(i) + 1)) continue;
    lost.push_back(job.rows[i]);
    publish_report(run_.store, cell, generations.at(i), status, report);
    run_.progress.cell_failed(job.rows[i], message);
  }
  queue_.give_up(lost);
}

bool JobRetry::again(const SessionJob& job) {
  const RetryBook::Verdict verdict = book_.ended(job.id, LaunchEnd::Error, false, 0);
  if (verdict.gives_up) return false;
  run_.progress.notify(fmt::format("job {}: an error; attempt {} of {} more (retry.error)", job.id,
                                   verdict.failures, verdict.allowed));
  return true;
}

bool JobRetry::out_of_memory(const SessionJob& job, const std::vector<std::int64_t>& generations,
                             double peak) {
  if (job.rows.size() > 1) {
    run_.progress.notify("job " + job.id + " does not fit in memory: split in two");
    queue_.split(job.rows);
    return false;
  }
  const CellPlan& cell = run_.sweep.cells[job.rows.front()];
  if (command_.mode == RunMode::Apart) {  // who waits for this process decides what is next
    code_ = ExitCode::OutOfMemory;
    queue_.give_up(job.rows);
    return false;
  }
  while (!book_.ended(job.id, LaunchEnd::OutOfMemory, false, 0).gives_up) {
    run_.progress.notify("job " + job.id + " does not fit in memory: retrying in a new process");
    const int code = train_apart(command_, cell, run_);
    if (code == static_cast<int>(ExitCode::TempFail)) return true;
    if (run_.store.completed(cell.id)) return false;
    if (code == static_cast<int>(ExitCode::OutOfMemory)) continue;
    const auto failure = run_.store.newest_failure(cell.id);
    if (failure && failure->generation > generations.front()) {
      queue_.give_up(job.rows);  // it has reported why
    } else if (code < 128) {
      throw UserError(
          static_cast<ExitCode>(code),
          fmt::format("{}: the retry process exited with code {} (see its message above)",
                      cell.alias, code));
    }
    return false;  // a crash: retry.crash decides at the next claim
  }
  // The new processes have claimed generations of their own; only a claim shows the newest.
  const auto lease = leases_.try_acquire(run_.store.cell_dir(cell.id));
  if (!lease) return false;  // another process has it and will report the outcome
  fail(job, {lease->generation()}, CellStatus::Oom, "oom",
       fmt::format("out of memory with one cell alone; peak {:.0f} MB", peak / 1e6));
  return false;
}

}  // namespace depthgrid
