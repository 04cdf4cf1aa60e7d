#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <utility>

#include "core/base/clock.hpp"

namespace depthgrid {

/// A clock whose time passes where somebody waits, and at once.
class PretendedClock final : public Clock {
 public:
  /// @param while_waiting  what others do meanwhile; called after the time has passed.
  explicit PretendedClock(std::function<void()> while_waiting = [] {})
      : while_waiting_(std::move(while_waiting)) {}

  double now() const override { return now_; }
  double unix_time() const override { return 1'772'366'400 + now_; }  // 2026-03-01T12:00:00Z
  void wait(double seconds) const override {
    pass(seconds);
    ++waits_;
    while_waiting_();
  }

  void pass(double seconds) const { now_ += seconds; }
  int waits() const { return waits_; }

  /// The same time for who asks std::chrono's clock.
  std::function<std::chrono::steady_clock::time_point()> steady() const {
    return [this] {
      return std::chrono::steady_clock::time_point(
          std::chrono::round<std::chrono::steady_clock::duration>(
              std::chrono::duration<double>(now_)));
    };
  }

 private:
  std::function<void()> while_waiting_;
  mutable std::atomic<double> now_ = 0;
  mutable std::atomic<int> waits_ = 0;
};

}  // namespace depthgrid
