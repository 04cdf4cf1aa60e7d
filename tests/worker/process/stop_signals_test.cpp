#include "worker/process/stop_signals.hpp"

#include <csignal>
#include <cstdlib>

#include <gtest/gtest.h>

#include "tests/support/pretended_clock.hpp"

namespace depthgrid {
namespace stop_signals_test {

TEST(StopSignals, WithoutARequestTheWholeTimeIsWaited) {
  const PretendedClock clock;
  EXPECT_FALSE(stop_requested_within(2, clock));
  EXPECT_GE(clock.now(), 2);
  EXPECT_LT(clock.now(), 2.1);
}

/// In a process of its own, since nothing takes a request back. Ends with the number of waits.
[[noreturn]] void wait_for_a_signal() {
  watch_stop_signals();
  const PretendedClock* now = nullptr;
  const PretendedClock clock([&now] {
    if (now->waits() == 3) raise(SIGTERM);
  });
  now = &clock;
  const bool stopped = stop_requested_within(2, clock) && stop_requested_within(2, clock);
  std::exit(stopped ? clock.waits() : 99);
}

TEST(StopSignals, ARequestEndsTheWait) {
  EXPECT_EXIT(wait_for_a_signal(), ::testing::ExitedWithCode(3), "");
}

}  // namespace stop_signals_test
}  // namespace depthgrid
