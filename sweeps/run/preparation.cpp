#include "sweeps/run/preparation.hpp"

#include <algorithm>
#include <csignal>
#include <iterator>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/base/processes.hpp"
#include "core/base/scratch_folder.hpp"
#include "storage/files/process_identity.hpp"
#include "storage/files/publish.hpp"
#include "storage/store.hpp"
#include "sweeps/launch/launch_process.hpp"
#include "sweeps/launch/launch_record.hpp"
#include "sweeps/live/hang_judge.hpp"
#include "sweeps/live/live_text.hpp"

namespace depthgrid {
namespace {

constexpr double kPreparationPoll = 0.02;  // s: a preparation may take a tenth of a second
constexpr int kStopped = static_cast<int>(ExitCode::TempFail);

/// How one attempt ended.
struct Attempt {
  int code = 0;  // exit code, or 128 + signal
  bool hung = false;
  std::string cause{};
  double seconds = 0;
  std::int64_t oom_kills = 0;
};

Attempt attempt_of(const Preparation& preparation, StopWatch& signals) {
  const ScratchFolder scratch;  // on this node, as the worker is: there may be no store yet
  const LaunchPlan plan{};
  const LaunchTicket ticket{.plan = plan,
                            .attempt = 1,
                            .gpus = {},
                            .cores = {},
                            .folder = scratch.path(),
                            .own_log = false};
  LaunchCommand command;
  command.words = preparation.command(LaunchProcess::board_of(ticket).string());
  const Stopwatch clock;
  const std::int64_t oom_kills = real_processes().oom_kills_so_far();
  LaunchProcess worker(ticket, command, 0);
  HangJudge judge(hang_limit(preparation.hang), kBehindItsWatchdog);
  bool passed_on = false;
  Attempt out;
  while (true) {
    if (signals.asked() && !std::exchange(passed_on, true)) worker.ask_to_stop();
    if (signals.insisted()) throw UserError(ExitCode::TempFail, "a second signal: left at once");
    if (const std::optional<int> code = worker.poll()) {
      out.code = *code;
      out.cause = worker.cause();
      out.seconds = clock.seconds();
      out.oom_kills = real_processes().oom_kills_so_far() - oom_kills;
      return out;
    }
    worker.news();
    const LifeSign sign = worker.life();
    if (const auto silent = judge.look(sign.beats, sign.phase, clock.seconds());
        silent && !std::exchange(out.hung, true)) {
      log(LogLevel::Error,
          fmt::format("the preparation has given no sign of life for {} in phase '{}' "
                      "(resources.hang): it is ended as hung",
                      clock_text(*silent), rule_of(sign.phase).name));
      worker.kill_hung();
    }
    signals.wait(kPreparationPoll);
  }
}

/// Of an attempt that begins now.
LaunchRecord new_record(const Preparation& preparation, const std::string& id) {
  return {.id = id,
          .attempt = next_attempt(launch_folder(preparation.store, id)),
          .cells = preparation.cells,
          .host = preparation.host,
          .slurm_job = preparation.slurm_job,
          .restart = preparation.restart,
          .launcher = "direct",
          .ranks = 1,
          .cause = "",
          .log = "",
          .last_words = ""};
}

/// What has failed is looked for in the store's launches; what went well, nobody asks for.
void keep_if_stored(const Preparation& preparation, const LaunchRecord& record) {
  if (!Store::is_at(preparation.store)) return;
  const Fs& disk = Store::fs_at(preparation.store);
  make_folders(launch_folder(preparation.store, record.id), disk);
  keep_record(preparation.store, record, disk);
}

/// Whether the same again may end otherwise.
bool may_pass(LaunchEnd end) {
  return !policy_of(end).budget.empty() && end != LaunchEnd::Error;  // which it would say again
}

/// Whether a signal by which users and schedulers ask for an end has ended it.
bool asked_to_end(int code) {
  constexpr int kAsk[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
  return code == kStopped || std::ranges::find(kAsk, code - 128) != std::end(kAsk);
}

}  // namespace

PreparationEnd prepare_sweep(const Preparation& preparation, StopWatch& signals, EventLog& events) {
  RetryBook book(preparation.retries);
  const Stopwatch clock;
  const std::string id = kPreparationId + (preparation.slurm_job.empty() ? this_process().uuid
                                                                         : preparation.slurm_job);
  signals.wait(0);
  if (signals.asked()) return {.code = kStopped};
  while (true) {
    LaunchRecord record = new_record(preparation, id);
    events.add({.kind = SweepEventKind::LaunchBegan,
                .launch = id,
                .attempt = record.attempt,
                .cells = record.cells});
    const Attempt attempt = attempt_of(preparation, signals);
    signals.wait(0);  // one that came in its last moment
    const bool stopped = signals.asked() || (!attempt.hung && asked_to_end(attempt.code));
    const LaunchEnd end = stopped        ? LaunchEnd::Stopped
                          : attempt.hung ? LaunchEnd::Hang
                                         : end_of(attempt.code, "", attempt.oom_kills);
    record.end = end;
    record.code = attempt.code;
    record.cause = attempt.cause;
    record.seconds = attempt.seconds;
    events.add(end_event(record));
    if (attempt.code == 0 && !signals.asked()) return {};
    keep_if_stored(preparation, record);
    if (signals.asked()) return {.code = kStopped};
    const std::string how = "the preparation ended as " + end_text(end, attempt.code);
    if (stopped) {
      log(LogLevel::Warning, how + ", which stops this run; the same command goes on");
      return {.code = kStopped};
    }
    if (!may_pass(end)) return {attempt.code, attempt.cause};
    const RetryBook::Verdict verdict = book.ended(id, end, false, clock.seconds());
    if (verdict.gives_up) {
      log(LogLevel::Error, fmt::format("{}, {} times, of {} that {} allows", how, verdict.failures,
                                       verdict.allowed, policy_of(end).budget));
      return {attempt.code, attempt.cause};
    }
    const double pause = std::max(0.0, verdict.not_before - clock.seconds());
    log(LogLevel::Warning, fmt::format("{}; it is started again in {:.0f} s", how, pause));
    events.add(again_event(id, end, verdict, pause));
    if (!signals.wait_unasked(pause)) return {.code = kStopped};
  }
}

}  // namespace depthgrid
