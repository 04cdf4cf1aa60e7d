#include "distributed/poll.hpp"

#include <chrono>
#include <stdexcept>

#include <gtest/gtest.h>
#include <time.h>

namespace depthgrid {
namespace poll_test {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

double thread_seconds() {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

TEST(Poll, SleepsBetweenItsLooks) {
  const Clock::time_point end = Clock::now() + 200ms;
  const double before = thread_seconds();
  int looks = 0;

  EXPECT_TRUE(poll_until(end + 60s, [&] {
    ++looks;
    return Clock::now() >= end;
  }));

  EXPECT_LT(thread_seconds() - before, 0.1) << looks << " looks: the core was never free";
}

TEST(Poll, WhatIsDoneIsSeenAtOnceAndWhatIsNotIsGivenUpAtTheDeadline) {
  EXPECT_TRUE(poll_until(Clock::now() - 1s, [] { return true; })) << "looks once in any case";
  const Clock::time_point deadline = Clock::now() + 20ms;
  EXPECT_FALSE(poll_until(deadline, [] { return false; }));
  EXPECT_GE(Clock::now(), deadline);
}

TEST(Poll, AFailureOfTheLookEndsIt) {
  const auto fails = []() -> bool { throw std::runtime_error("a card is lost"); };
  EXPECT_THROW(poll_until(Clock::now() + 60s, fails), std::runtime_error);
}

}  // namespace poll_test
}  // namespace depthgrid
