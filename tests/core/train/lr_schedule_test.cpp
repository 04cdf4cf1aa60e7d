#include "core/train/lr_schedule.hpp"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/error.hpp"

namespace depthgrid {
namespace lr_schedule_test {

std::vector<double> factors(const ScheduleOptions& options) {
  std::vector<double> all;
  for (std::int64_t s = 1; s <= options.steps; ++s) all.push_back(schedule_factor(options, s));
  return all;
}

void expect_near(const std::vector<double>& have, const std::vector<double>& want) {
  ASSERT_EQ(have.size(), want.size());
  for (std::size_t i = 0; i < want.size(); ++i) {
    EXPECT_NEAR(have[i], want[i], 1e-15) << "step " << i + 1;
  }
}

TEST(LrSchedule, ConstantIsThePeakFromTheFirstStep) {
  expect_near(factors({.kind = ScheduleKind::Constant, .steps = 4}), {1, 1, 1, 1});
}

TEST(LrSchedule, WarmUpRisesFromZeroAndReachesThePeakAtItsLastStep) {
  expect_near(factors({.kind = ScheduleKind::Constant, .steps = 6, .warmup_steps = 4}),
              {0.25, 0.5, 0.75, 1, 1, 1});
}

TEST(LrSchedule, CosineHalvesHalfWayAndEndsAtTheFinalRatio) {
  const auto f = factors({.kind = ScheduleKind::Cosine, .steps = 8, .final_ratio = 0.2});

  EXPECT_NEAR(f[3], 0.2 + 0.8 * 0.5, 1e-15);
  EXPECT_NEAR(f[1], 0.2 + 0.8 * 0.5 * (1 + std::sqrt(0.5)), 1e-15);
  EXPECT_NEAR(f[7], 0.2, 1e-15);
}

TEST(LrSchedule, CosineDecaysOverWhatTheWarmUpLeaves) {
  const auto f =
      factors({.kind = ScheduleKind::Cosine, .steps = 10, .warmup_steps = 2, .final_ratio = 0});

  EXPECT_NEAR(f[0], 0.5, 1e-15);
  EXPECT_NEAR(f[1], 1, 1e-15);
  EXPECT_NEAR(f[5], 0.5, 1e-15);  // step 6: half of 8 decay steps
  EXPECT_NEAR(f[9], 0, 1e-15);
}

TEST(LrSchedule, LinearFallsEvenlyAndStaysAtTheFinalRatioAfterItsDecay) {
  expect_near(factors({.kind = ScheduleKind::Linear,
                       .steps = 7,
                       .warmup_steps = 1,
                       .decay_steps = 4,
                       .final_ratio = 0.5}),
              {1, 0.875, 0.75, 0.625, 0.5, 0.5, 0.5});
}

TEST(LrSchedule, WsdDecaysOverTheLastFifthByDefault) {
  expect_near(
      factors({.kind = ScheduleKind::Wsd, .steps = 10, .warmup_steps = 2, .final_ratio = 0.1}),
      {0.5, 1, 1, 1, 1, 1, 1, 1, 0.55, 0.1});
}

TEST(LrSchedule, WsdTakesItsOwnDecayLength) {
  expect_near(factors({.kind = ScheduleKind::Wsd, .steps = 6, .decay_steps = 4, .final_ratio = 0}),
              {1, 1, 0.75, 0.5, 0.25, 0});
}

TEST(LrSchedule, WsdDecayLongerThanTheRestStartsAfterTheWarmUp) {
  expect_near(factors({.kind = ScheduleKind::Wsd,
                       .steps = 6,
                       .warmup_steps = 2,
                       .decay_steps = 100,
                       .final_ratio = 0}),
              {0.5, 1, 0.75, 0.5, 0.25, 0});
}

TEST(LrSchedule, DecayOfZeroStepsIsADropOrForWsdNoDecay) {
  expect_near(factors({.kind = ScheduleKind::Linear, .steps = 2, .decay_steps = 0}), {0.1, 0.1});
  expect_near(factors({.kind = ScheduleKind::Wsd, .steps = 2, .decay_steps = 0}), {1, 1});
}

TEST(LrSchedule, WarmUpLongerThanTrainingNeverReachesThePeak) {
  expect_near(factors({.kind = ScheduleKind::Cosine, .steps = 2, .warmup_steps = 8}),
              {0.125, 0.25});
}

TEST(LrSchedule, StepsCountFromOneToTheLast) {
  const ScheduleOptions options{.kind = ScheduleKind::Constant, .steps = 3};

  EXPECT_THROW(schedule_factor(options, 0), Error);
  EXPECT_THROW(schedule_factor(options, 4), Error);
}

TEST(LrSchedule, WordsOfTheConfigurationNameTheKinds) {
  EXPECT_EQ(schedule_kind("constant"), ScheduleKind::Constant);
  EXPECT_EQ(schedule_kind("cosine"), ScheduleKind::Cosine);
  EXPECT_EQ(schedule_kind("linear"), ScheduleKind::Linear);
  EXPECT_EQ(schedule_kind("wsd"), ScheduleKind::Wsd);
  EXPECT_THROW(schedule_kind("step"), Error);
}

}  // namespace lr_schedule_test
}  // namespace depthgrid
