#include "sweeps/run/preparation.hpp"

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/base/child_process.hpp"
#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/exit_code.hpp"
#include "core/base/log.hpp"
#include "core/base/machine.hpp"
#include "sweeps/launch/failure_class.hpp"

namespace depthgrid {
namespace {

constexpr double kPreparationPoll = 0.02;  // s: a preparation may take a tenth of a second
constexpr int kStopped = static_cast<int>(ExitCode::TempFail);
constexpr const char* kPreparation = "preparation";

/// Its exit code, or 128 + signal.
int watched_to_its_end(const std::vector<std::string>& command, StopWatch& signals) {
  ChildProcess worker(
      {.command = command, .variables = {}, .keeps_launcher = false, .output = {}, .cores = {}});
  bool passed_on = false;
  while (true) {
    if (signals.asked() && !std::exchange(passed_on, true)) worker.signal(signals.first());
    if (signals.insisted()) throw UserError(ExitCode::TempFail, "a second signal: left at once");
    if (const std::optional<int> code = worker.poll()) return *code;
    signals.wait(kPreparationPoll);
  }
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

int prepare_sweep(const std::vector<std::string>& command, StopWatch& signals, RetryOptions retries,
                  EventLog& events) {
  RetryBook book(std::move(retries));
  const Stopwatch clock;
  for (std::int64_t attempt = 1;; ++attempt) {
    const std::int64_t oom_kills = oom_kills_so_far();
    const double begun = clock.seconds();
    events.add({.kind = SweepEventKind::LaunchBegan, .launch = kPreparation, .attempt = attempt});
    const int code = watched_to_its_end(command, signals);
    const LaunchEnd end = end_of(code, "", oom_kills_so_far() - oom_kills);
    events.add({.kind = SweepEventKind::LaunchEnded,
                .launch = kPreparation,
                .attempt = attempt,
                .end = std::string(name_of(end)),
                .code = code,
                .node = node_name(),
                .seconds = clock.seconds() - begun});
    signals.wait(0);  // one that came in its last moment
    if (signals.asked()) return kStopped;
    if (code == 0) return 0;
    const std::string how = "the preparation ended as " + end_text(end, code);
    if (asked_to_end(code)) {
      log(LogLevel::Warning, how + ", which stops this run; the same command goes on");
      return kStopped;
    }
    if (!may_pass(end)) return code;
    const RetryBook::Verdict verdict = book.ended(kPreparation, end, false, clock.seconds());
    if (verdict.gives_up) {
      log(LogLevel::Error, fmt::format("{}, {} times, of {} that {} allows", how, verdict.failures,
                                       verdict.allowed, policy_of(end).budget));
      return code;
    }
    const double pause = std::max(0.0, verdict.not_before - clock.seconds());
    log(LogLevel::Warning, fmt::format("{}; it is started again in {:.0f} s", how, pause));
    events.add(again_event(kPreparation, end, verdict, pause));
    if (!signals.wait_unasked(pause)) return kStopped;
  }
}

}  // namespace depthgrid
