#include "worker/process/life_teller.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>

#include <pthread.h>

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
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // signals belong to the main thread
  thread_ = std::thread([this, &watchdog, board = LiveBoard(board),
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
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
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
