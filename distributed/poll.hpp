#pragma once

#include <chrono>
#include <thread>

namespace depthgrid {

/// Polls whether something has happened that wakes nobody up, such as the end of a GPU's queue.
///
/// Between polls it sleeps 50 us (about 100 with Linux's usual timer slack), so that the core is
/// left to others; in the first 100 us it only yields: what is that short ends without a sleep.
/// @param done  bool(), about a microsecond. What it throws passes.
/// @return whether it was done by `deadline`; it is asked at least once.
template <class Done>
bool poll_until(std::chrono::steady_clock::time_point deadline, const Done& done) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::microseconds kBrief{100}, kPause{50};
  const Clock::time_point sleeps_from = Clock::now() + kBrief;
  for (;;) {
    const Clock::time_point now = Clock::now();  // before the poll: one follows the last sleep
    if (done()) return true;
    if (now > deadline) return false;
    if (now < sleeps_from) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(kPause);
    }
  }
}

}  // namespace depthgrid
