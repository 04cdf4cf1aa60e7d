#include "sweeps/supervise/launch_plan.hpp"

#include <gtest/gtest.h>

#include "core/base/nan.hpp"

namespace depthgrid {
namespace launch_plan_test {

std::vector<CellPlan> cells(std::size_t n) {
  std::vector<CellPlan> out(n);
  for (std::size_t i = 0; i < n; ++i) out[i].id = std::to_string(i);
  return out;
}

std::vector<FusedJob> jobs(std::size_t n, double seconds) {
  std::vector<FusedJob> out(n);
  for (std::size_t i = 0; i < n; ++i) {
    out[i].id = "j" + std::to_string(i);
    out[i].cells = {i};
    out[i].predicted_seconds = seconds;
  }
  return out;
}

TEST(LaunchPlan, LongJobsHaveALaunchEach) {
  const auto found = plan_launches(jobs(8, 100), cells(8), 1, std::nullopt);
  EXPECT_EQ(found.size(), 8U);
}

TEST(LaunchPlan, ShortJobsShareOneUpToAMinute) {
  const auto found = plan_launches(jobs(400, 10), cells(400), 2, std::nullopt);
  ASSERT_EQ(found.size(), 67U) << "six jobs of ten seconds each";
  EXPECT_EQ(found[0].rows.size(), 6U);
  EXPECT_DOUBLE_EQ(found[0].seconds, 60);
}

TEST(LaunchPlan, EverySlotGetsFourLaunches) {
  const auto found = plan_launches(jobs(16, 1), cells(16), 2, std::nullopt);
  EXPECT_EQ(found.size(), 8U);
}

TEST(LaunchPlan, ANumberIsTakenLiterally) {
  EXPECT_EQ(plan_launches(jobs(10, 1000), cells(10), 2, 4).size(), 3U);
}

TEST(LaunchPlan, UnknownTimesDoNotShare) {
  EXPECT_EQ(plan_launches(jobs(40, kNaN), cells(40), 1, std::nullopt).size(), 40U);
}

TEST(LaunchPlan, StartsFollowTheirSources) {
  auto both = jobs(2, 1);
  both[1].after = {"j0"};
  both[1].depth = 1;
  const auto found = plan_launches(both, cells(2), 1, 5);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[1].after, std::vector<std::size_t>{0});
}

}  // namespace launch_plan_test
}  // namespace depthgrid
