#include "worker/process/watchdog.hpp"

#include <chrono>
#include <csignal>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include "core/base/clock.hpp"
#include "core/base/exit_code.hpp"
#include "core/base/log.hpp"
#include "worker/process/end_note.hpp"
#include "worker/process/hang_judge.hpp"

namespace depthgrid {

Watchdog::~Watchdog() {
  rest();
}

void Watchdog::watch(std::optional<double> limit, std::function<void(double silent)> expired) {
  rest();
  resting_ = false;
  // Signals belong to the main thread.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this, limit, expired = std::move(expired)] {
    constexpr std::chrono::milliseconds kLook(250);
    HangJudge judge(limit);
    const Stopwatch clock;
    std::unique_lock lock(mutex_);
    while (!wake_.wait_for(lock, kLook, [this] { return resting_; })) {
      const auto silent = judge.look(beats_.load(std::memory_order_relaxed), clock.seconds());
      if (silent) return expired(*silent);
    }
  });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Watchdog::rest() {
  {
    const std::lock_guard lock(mutex_);
    resting_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void end_hung(double silent) noexcept {
  log(LogLevel::Error,
      fmt::format("no training step, batch or probe has ended for {:.0f} s (resources.hang): this "
                  "process hangs and ends itself; the same command goes on from the last "
                  "checkpoint",
                  silent));
  note_end(static_cast<int>(ExitCode::Hang));
  _exit(static_cast<int>(ExitCode::Hang));
}

}  // namespace depthgrid
