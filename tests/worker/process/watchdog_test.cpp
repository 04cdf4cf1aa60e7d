#include "worker/process/watchdog.hpp"

#include <optional>

#include <gtest/gtest.h>

namespace depthgrid {
namespace watchdog_test {

constexpr double kLimit = 100;  // s

/// A watchdog whose seconds pass at once, looked at as often as by its thread.
class Watched : public ::testing::Test {
 protected:
  void pass(double seconds) {
    for (const double end = now_ + seconds; now_ < end; now_ += Watchdog::kPeriod) {
      watchdog_.tick(now_);
    }
  }

  double now_ = 5000;  // since the machine's start
  std::optional<LastSign> ended_;
  int times_ = 0;
  Watchdog watchdog_{kLimit, [this](const LastSign& last) {
                       ended_ = last;
                       ++times_;
                     }};
};

TEST_F(Watched, TellsThePhaseAndStepInWhichNothingGetsOn) {
  watchdog_.enter(WorkPhase::Training);
  watchdog_.beat(50);
  pass(kLimit);
  EXPECT_FALSE(ended_);
  pass(1);
  ASSERT_TRUE(ended_);
  EXPECT_EQ(ended_->phase, WorkPhase::Training);
  EXPECT_EQ(ended_->step, 50);
  pass(10 * kLimit);
  EXPECT_EQ(times_, 1) << "an end is called for once";
}

TEST_F(Watched, EverySignOfLifeBeginsAnew) {
  watchdog_.enter(WorkPhase::Training);
  for (int step = 1; step <= 5; ++step) {
    watchdog_.beat(step);
    pass(kLimit - 1);
  }
  watchdog_.enter(WorkPhase::Training);
  pass(kLimit - 1);
  EXPECT_FALSE(ended_);
  pass(2);
  EXPECT_TRUE(ended_);
}

TEST_F(Watched, ARankThatWaitsIsLeftAloneUntilItWorksAgain) {
  {
    const InPhase waits(watchdog_, WorkPhase::Waiting);
    pass(1000 * kLimit);
    EXPECT_FALSE(ended_);
  }
  pass(rule_of(WorkPhase::StartUp).factor * kLimit + 1);
  ASSERT_TRUE(ended_);
  EXPECT_EQ(ended_->phase, WorkPhase::StartUp) << "the phase from before the wait";
}

TEST_F(Watched, APauseOfTheWholeProcessIsNoHang) {
  watchdog_.enter(WorkPhase::Training);
  pass(kLimit / 2);
  now_ += 10 * kLimit;  // SIGSTOP
  pass(kLimit);
  EXPECT_FALSE(ended_);
  pass(1);
  EXPECT_TRUE(ended_);
}

TEST(Watchdog, WithoutALimitNothingIsTooLong) {
  int times = 0;
  Watchdog watchdog(hang_limit(-1), [&](const LastSign&) { ++times; });
  watchdog.enter(WorkPhase::Training);
  for (double now = 0; now < 1e6; now += 1) watchdog.tick(now);
  EXPECT_EQ(times, 0);
}

}  // namespace watchdog_test
}  // namespace depthgrid
