#include "sweeps/queue/failure_streak.hpp"

#include <gtest/gtest.h>

namespace depthgrid {
namespace failure_streak_test {

TEST(FailureStreak, EndsARunAfterSoManyFailuresInARow) {
  FailureStreak streak(3);
  streak.failed();
  streak.failed();
  EXPECT_FALSE(streak.over());
  streak.failed();
  ASSERT_TRUE(streak.over());
  EXPECT_NE(streak.over()->find("retry.stop_after_consecutive = 3"), std::string::npos);
}

TEST(FailureStreak, ASuccessBetweenThemBeginsItAnew) {
  FailureStreak streak(2);
  for (int i = 0; i < 10; ++i) {
    streak.failed();
    streak.succeeded();
  }
  EXPECT_FALSE(streak.over());
  streak.failed();
  streak.failed();
  EXPECT_TRUE(streak.over());
}

}  // namespace failure_streak_test
}  // namespace depthgrid
