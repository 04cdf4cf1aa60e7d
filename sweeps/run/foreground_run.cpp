#include "sweeps/run/foreground_run.hpp"

#include <algorithm>
#include <csignal>
#include <iterator>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/base/terminal.hpp"
#include "storage/files/publish.hpp"
#include "storage/store.hpp"
#include "sweeps/launch/launch_record.hpp"

namespace depthgrid {
namespace {

constexpr double kForegroundPoll = 0.1;  // s, of signs of life; its end is noticed at once
constexpr std::string_view kGoesOn = "the same command goes on from there";

/// One attempt, with whose processes this one may be suspended.
ForegroundEnd attended(const ForegroundRun& run, StopWatch& signals) {
  ForegroundLaunch launch(run.launch);
  const Suspension suspension;
  while (true) {
    while (const int signal = signals.take()) launch.pass_on(signal);
    if (run.left_at_second && signals.insisted()) {
      throw UserError(ExitCode::TempFail, "a second signal: left at once");
    }
    if (const auto end = launch.tick()) return *end;
    if (suspension.asked()) {
      launch.suspend();
      erase_display();  // the shell gets a screen without half a display
      suspension.suspend();
      launch.resume();
    }
    signals.wait(kForegroundPoll);
  }
}

/// Of an attempt that begins now.
LaunchRecord new_record(const ForegroundRun& run) {
  const bool stored = Store::is_at(run.store);
  const std::filesystem::path folder = launch_folder(run.store, run.id);
  return {.id = run.id,
          .attempt = stored ? next_attempt(folder, Store::fs_at(run.store)) : 1,
          .cells = run.cells,
          .host = run.host,
          .slurm_job = run.slurm_job,
          .restart = run.restart,
          .launcher = "direct",
          .ranks = 1,
          .cause = "",
          .log = "",
          .last_words = ""};
}

/// What has failed is searched for in the store's launches; what went well, nobody asks for.
void keep_if_stored(const ForegroundRun& run, const LaunchRecord& record) {
  if (!Store::is_at(run.store)) return;
  const Fs& disk = Store::fs_at(run.store);
  make_folders(launch_folder(run.store, record.id), disk);
  keep_record(run.store, record, disk);
}

/// Whether the same again may end otherwise.
bool may_pass(LaunchEnd end) {
  return !policy_of(end).budget.empty() && end != LaunchEnd::Error;  // which it would say again
}

/// Whether a signal by which users and schedulers ask for an end has ended it. A second INT, which
/// ends a worker at once, is no such request.
bool ended_by_request(int code, const StopWatch& signals) {
  constexpr int kAsk[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
  if (code == 128 + SIGINT && signals.insisted()) return false;
  return std::ranges::find(kAsk, code - 128) != std::end(kAsk);
}

}  // namespace

int run_in_foreground(const ForegroundRun& run, StopWatch& signals, EventLog& events) {
  constexpr int kStopped = number_of(ExitCode::TempFail);
  RetryBook book(run.retries);
  std::int64_t reached = 0;  // of no matter before the first end: its budgets are full
  signals.wait(0);
  while (!signals.asked()) {
    LaunchRecord record = new_record(run);
    events.add({.kind = SweepEventKind::LaunchBegan,
                .launch = run.id,
                .attempt = record.attempt,
                .cells = run.cells});
    const ForegroundEnd attempt = attended(run, signals);
    signals.wait(0);  // one that came in its last moment
    const bool by_request = !attempt.hung && ended_by_request(attempt.code, signals);
    const LaunchEnd end = by_request ? LaunchEnd::Stopped : attempt.kind();
    record.end = end;
    record.code = attempt.code;
    record.cause = attempt.cause;
    record.seconds = attempt.seconds;
    events.add(end_event(record));
    if (attempt.code > 128) erase_display();  // of a worker that was killed while it drew
    const std::string how = run.launch.name + " ended as " + end_text(end, attempt.code);
    if (by_request) {
      if (!signals.asked()) log(LogLevel::Warning, how + ", which stops this run");
      return kStopped;
    }
    if (end == LaunchEnd::Done || end == LaunchEnd::Stopped) return attempt.code;
    keep_if_stored(run, record);
    const char* const kept = Store::is_at(run.store) ? "what was recorded is kept, and " : "";
    const bool may = may_pass(end) && !signals.asked();
    const RunState state = may && run.state ? run.state() : RunState{.goes_on = may};
    if (!state.goes_on) {
      if (attempt.code > 128) log(LogLevel::Error, fmt::format("{}; {}{}", how, kept, kGoesOn));
      return attempt.code;
    }
    const bool progressed = state.reached > std::exchange(reached, state.reached);
    const double now = real_clock().now();
    const RetryBook::Verdict verdict = book.ended(run.id, end, progressed, now);
    if (verdict.gives_up) {
      log(LogLevel::Error,
          fmt::format("{}, {} times without progress, of {} that {} allows; {}{}", how,
                      verdict.failures, verdict.allowed, policy_of(end).budget, kept, kGoesOn));
      return attempt.code;
    }
    const double pause = std::max(0.0, verdict.not_before - now);
    log(LogLevel::Warning, fmt::format("{}; {}it is started again in {:.0f} s", how, kept, pause));
    events.add(again_event(run.id, end, verdict, pause));
    signals.wait_unasked(pause);
  }
  return kStopped;
}

}  // namespace depthgrid
