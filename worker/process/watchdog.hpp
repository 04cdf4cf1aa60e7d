#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

namespace depthgrid {

/// Watches from a thread of its own that the work goes on, and calls for an end if it does not: a
/// rank that waits for a dead peer, a device or a filesystem would wait for ever.
class Watchdog {
 public:
  Watchdog() = default;
  /// Calls rest().
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// From now on. @param limit    see HangJudge. @param expired  called once, from that thread,
  /// with the seconds without a sign of life.
  void watch(std::optional<double> limit, std::function<void(double silent)> expired);

  /// A sign of life: after every training step, batch of an evaluation, probe, or look at the
  /// store.
  void beat() noexcept { beats_.fetch_add(1, std::memory_order_relaxed); }

  /// Ends the watch.
  void rest();

 private:
  std::atomic<std::int64_t> beats_{0};
  std::mutex mutex_;
  std::condition_variable wake_;
  bool resting_ = false;
  std::thread thread_;
};

/// What expired() does in a worker: says so on stderr and in the log, and ends this process at once
/// with ExitCode::Hang. Nothing is cleaned up, since that may hang, too; the launcher ends the
/// other ranks, and the same command resumes from the last checkpoint.
[[noreturn]] void end_hung(double silent) noexcept;

}  // namespace depthgrid
