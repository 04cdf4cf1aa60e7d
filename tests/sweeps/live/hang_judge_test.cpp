#include "sweeps/live/hang_judge.hpp"

#include <limits>

#include <gtest/gtest.h>

namespace depthgrid {
namespace hang_judge_test {

using enum WorkPhase;

TEST(HangJudge, SilenceForLongerThanTheLimitIsAHang) {
  HangJudge judge(10);
  for (double now = 0; now <= 10; now += 0.25) EXPECT_FALSE(judge.observe(5, Training, now)) << now;
  EXPECT_TRUE(judge.observe(5, Training, 10.5));
}

TEST(HangJudge, WhoWatchesFromOutsideComesLaterAndJudgesEveryPhase) {
  const HangJudge own(10);
  const HangJudge outside(10, 15);
  EXPECT_EQ(outside.limit(Training), 25);
  EXPECT_EQ(outside.limit(StartUp), own.limit(StartUp) + 15);
  EXPECT_EQ(own.limit(Waiting), std::numeric_limits<double>::infinity());
  EXPECT_EQ(outside.limit(Waiting), 255);
  EXPECT_EQ(HangJudge(hang_limit(-1), 15).limit(Training), std::numeric_limits<double>::infinity());
}

TEST(HangJudge, EverySignOfLifeBeginsTheWatchAnew) {
  HangJudge judge(10);
  std::int64_t beats = 0;
  for (double now = 0; now < 100; now += 0.5) {
    if (static_cast<int>(now) % 9 == 0) ++beats;
    EXPECT_FALSE(judge.observe(beats, Training, now));
  }
}

TEST(HangJudge, APauseOfTheWholeProcessIsNoHang) {
  HangJudge judge(10);
  EXPECT_FALSE(judge.observe(1, Training, 0));
  EXPECT_FALSE(judge.observe(1, Training, 1000)) << "it was stopped and continued";
  EXPECT_FALSE(judge.observe(1, Training, 1004));
  for (double now = 1004.25; now <= 1010; now += 0.25)
    EXPECT_FALSE(judge.observe(1, Training, now));
  EXPECT_TRUE(judge.observe(1, Training, 1010.5));
}

TEST(HangJudge, ByItselfItGrowsWithTheLongestPause) {
  HangJudge judge(std::nullopt);
  EXPECT_EQ(judge.limit(Training), 900);
  double now = 0;
  for (; now < 100; now += 1) judge.observe(1, Training, now);
  judge.observe(2, Training, now);
  EXPECT_NEAR(judge.limit(Training), 2000, 1);
}

TEST(HangJudge, ALongStartDoesNotMakeItPatientWithTraining) {
  HangJudge judge(std::nullopt);
  double now = 0;
  for (; now < 1000; now += 1) EXPECT_FALSE(judge.observe(1, StartUp, now));
  judge.observe(2, Training, now);
  EXPECT_EQ(judge.limit(Training), 900);
}

TEST(HangJudge, StartUpMayTakeLongerThanAStepOfTraining) {
  HangJudge judge(10);
  for (double now = 0; now <= 40; now += 0.5) EXPECT_FALSE(judge.observe(1, StartUp, now)) << now;
  EXPECT_TRUE(judge.observe(1, StartUp, 40.5));
}

TEST(HangJudge, ARankThatWaitsForItsFirstRankIsNotJudged) {
  HangJudge judge(10);
  double now = 0;
  for (; now < 10000; now += 1) EXPECT_FALSE(judge.observe(1, Waiting, now)) << now;
  // What comes after the wait is.
  for (const double end = now + 10; now <= end; now += 1)
    EXPECT_FALSE(judge.observe(2, Training, now));
  EXPECT_TRUE(judge.observe(2, Training, now));
}

TEST(HangJudge, WithoutALimitNothingHangs) {
  HangJudge judge(std::numeric_limits<double>::infinity());
  for (double now = 0; now < 1e5; now += 4) EXPECT_FALSE(judge.observe(1, Training, now));
}

}  // namespace hang_judge_test
}  // namespace depthgrid
