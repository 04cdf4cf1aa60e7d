#include "sweeps/supervise/preparation.hpp"

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/base/child_process.hpp"
#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/exit_code.hpp"
#include "core/base/log.hpp"
#include "sweeps/supervise/failure_class.hpp"

namespace depthgrid {
namespace {

constexpr double kPreparationPoll = 0.02;  // s: a preparation may take a tenth of a second
constexpr int kStopped = static_cast<int>(ExitCode::TempFail);

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
  constexpr LaunchEnd kMayPass[] = {LaunchEnd::Crash, LaunchEnd::Killed, LaunchEnd::Hang,
                                    LaunchEnd::OutOfMemory, LaunchEnd::Infrastructure};
  return std::ranges::find(kMayPass, end) != std::end(kMayPass);
}

/// Whether a signal by which users and schedulers ask for an end has ended it.
bool asked_to_end(int code) {
  constexpr int kAsk[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
  return code == kStopped || std::ranges::find(kAsk, code - 128) != std::end(kAsk);
}

std::string end_of_preparation(int code) {
  if (code <= 128) return fmt::format("the preparation has ended with code {}", code);
  return fmt::format("the preparation was ended by signal {} ({})", code - 128,
                     strsignal(code - 128));
}

}  // namespace

int prepare_sweep(const std::vector<std::string>& command, StopWatch& signals,
                  RetryOptions retries) {
  RetryBook book(std::move(retries));
  const Stopwatch clock;
  while (true) {
    const std::int64_t oom_kills = oom_kills_so_far();
    const int code = watched_to_its_end(command, signals);
    signals.wait(0);  // one that came in its last moment
    if (signals.asked()) return kStopped;
    if (code == 0) return 0;
    if (asked_to_end(code)) {
      log(LogLevel::Warning,
          end_of_preparation(code) + ", which stops this run; the same command goes on");
      return kStopped;
    }
    const LaunchEnd end = end_of(code, "", oom_kills_so_far() - oom_kills);
    if (!may_pass(end)) return code;
    const RetryBook::Verdict verdict = book.ended("preparation", end, false, clock.seconds());
    if (verdict.gives_up) {
      log(LogLevel::Error,
          fmt::format("{}, {} times, of {} that {} allows", end_of_preparation(code),
                      verdict.failures, verdict.allowed, policy_of(end).budget));
      return code;
    }
    const double pause = std::max(0.0, verdict.not_before - clock.seconds());
    log(LogLevel::Warning,
        fmt::format("{}; it is started again in {:.0f} s", end_of_preparation(code), pause));
    for (const Stopwatch waited; waited.seconds() < pause && !signals.asked();)
      signals.wait(pause - waited.seconds());
    if (signals.asked()) return kStopped;
  }
}

}  // namespace depthgrid
