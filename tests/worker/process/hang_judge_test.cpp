#include "worker/process/hang_judge.hpp"

#include <gtest/gtest.h>

namespace depthgrid {
namespace hang_judge_test {

TEST(HangJudge, SilenceForLongerThanTheLimitIsAHang) {
  HangJudge judge(10);
  for (double now = 0; now <= 10; now += 0.25) EXPECT_FALSE(judge.look(5, now)) << now;
  EXPECT_TRUE(judge.look(5, 10.5));
}

TEST(HangJudge, EverySignOfLifeBeginsTheWatchAnew) {
  HangJudge judge(10);
  std::int64_t beats = 0;
  for (double now = 0; now < 100; now += 0.5) {
    if (static_cast<int>(now) % 9 == 0) ++beats;
    EXPECT_FALSE(judge.look(beats, now));
  }
}

TEST(HangJudge, APauseOfTheWholeProcessIsNoHang) {
  HangJudge judge(10);
  EXPECT_FALSE(judge.look(1, 0));
  EXPECT_FALSE(judge.look(1, 1000)) << "it was stopped and continued";
  EXPECT_FALSE(judge.look(1, 1004));
  for (double now = 1004.25; now <= 1010; now += 0.25) EXPECT_FALSE(judge.look(1, now));
  EXPECT_TRUE(judge.look(1, 1010.5));
}

TEST(HangJudge, ByItselfItGrowsWithTheLongestPause) {
  HangJudge judge(std::nullopt);
  EXPECT_EQ(judge.limit(), 900);
  double now = 0;
  for (; now < 100; now += 1) judge.look(1, now);
  judge.look(2, now);
  EXPECT_NEAR(judge.limit(), 2000, 1);
}

}  // namespace hang_judge_test
}  // namespace depthgrid
