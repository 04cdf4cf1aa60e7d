#include "worker/process/life_teller.hpp"

#include <algorithm>
#include <chrono>

#include "core/base/held_signals.hpp"
#include "sweeps/live/live_board.hpp"

namespace depthgrid {
namespace {

/// s between two signs: a part of what may pass without one.
double telling_interval(double hang) {
  constexpr double kLongest = 5;
  constexpr double kPart = 4;
  return hang > 0 ? std::min(kLongest, hang / kPart) : kLongest;
}

}  // namespace

LifeTeller::LifeTeller(const Watchdog& watchdog, const std::filesystem::path& board, double hang) {
  thread_ = thread_without_signals([this, &watchdog, board = LiveBoard(board),
                                    every = std::chrono::duration<double>(telling_interval(hang))] {
    LifeSign told;
    std::unique_lock lock(mutex_);
    while (!wake_.wait_for(lock, every, [this] { return over_; })) {
      const LifeSign now = watchdog.life();
      if (now.beats == told.beats) continue;
      board.sign_life(now);
      told = now;
    }
  });
}

LifeTeller::~LifeTeller() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

}  // namespace depthgrid
