#include "worker/process/watchdog.hpp"

#include <chrono>
#include <future>

#include <gtest/gtest.h>

namespace depthgrid {
namespace watchdog_test {

using namespace std::chrono_literals;

TEST(Watchdog, TellsThePhaseAndStepInWhichNothingGetsOn) {
  Watchdog watchdog;
  std::promise<LastSign> ended;
  watchdog.enter(WorkPhase::Training);
  watchdog.beat(50);
  watchdog.watch(0.3, [&](const LastSign& last) { ended.set_value(last); });
  std::future<LastSign> end = ended.get_future();
  ASSERT_EQ(end.wait_for(20s), std::future_status::ready);
  const LastSign last = end.get();
  EXPECT_EQ(last.phase, WorkPhase::Training);
  EXPECT_EQ(last.step, 50);
  EXPECT_GE(last.silent, 0.3);
}

TEST(Watchdog, ARankThatWaitsIsLeftAloneUntilItWorksAgain) {
  Watchdog watchdog;
  std::promise<LastSign> ended;
  std::future<LastSign> end = ended.get_future();
  {
    const InPhase waits(watchdog, WorkPhase::Waiting);
    watchdog.watch(0.05, [&](const LastSign& last) { ended.set_value(last); });
    EXPECT_EQ(end.wait_for(1s), std::future_status::timeout);
  }
  ASSERT_EQ(end.wait_for(20s), std::future_status::ready);
  EXPECT_EQ(end.get().phase, WorkPhase::StartUp) << "the phase from before the wait";
}

}  // namespace watchdog_test
}  // namespace depthgrid
