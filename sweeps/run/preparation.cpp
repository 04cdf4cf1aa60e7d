#include "sweeps/run/preparation.hpp"

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/exit_code.hpp"
#include "core/base/log.hpp"
#include "core/base/processes.hpp"
#include "sweeps/launch/failure_class.hpp"

namespace depthgrid {
namespace {

constexpr double kPreparationPoll = 0.02;  // s: a preparation may take a tenth of a second
constexpr int kStopped = static_cast<int>(ExitCode::TempFail);

/// Its exit code, or 128 + signal.
int watched_to_its_end(const std::vector<std::string>& command, StopWatch& signals) {
  ChildProcess worker({.command = command, .in = {.kind = ChildStream::Kind::Nothing}});
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

int prepare_sweep(const std::vector<std::string>& command, StopWatch& signals,
                  RetryOptions retries) {
  RetryBook book(std::move(retries));
  const Stopwatch clock;
  while (true) {
    const std::int64_t oom_kills = real_processes().oom_kills_so_far();
    const int code = watched_to_its_end(command, signals);
    signals.wait(0);  // one that came in its last moment
    if (signals.asked()) return kStopped;
    if (code == 0) return 0;
    const LaunchEnd end = end_of(code, "", real_processes().oom_kills_so_far() - oom_kills);
    const std::string how = "the preparation ended as " + end_text(end, code);
    if (asked_to_end(code)) {
      log(LogLevel::Warning, how + ", which stops this run; the same command goes on");
      return kStopped;
    }
    if (!may_pass(end)) return code;
    const RetryBook::Verdict verdict = book.ended("preparation", end, false, clock.seconds());
    if (verdict.gives_up) {
      log(LogLevel::Error, fmt::format("{}, {} times, of {} that {} allows", how, verdict.failures,
                                       verdict.allowed, policy_of(end).budget));
      return code;
    }
    const double pause = std::max(0.0, verdict.not_before - clock.seconds());
    log(LogLevel::Warning, fmt::format("{}; it is started again in {:.0f} s", how, pause));
    if (!signals.wait_unasked(pause)) return kStopped;
  }
}

}  // namespace depthgrid
