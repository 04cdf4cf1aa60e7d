#include "sweeps/launch/launch_plan.hpp"

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

TEST(LaunchPlan, PartsAreTheJobsAndThenTheCells) {
  auto three = jobs(3, 2);
  three[1].cells = {1, 3};
  three[2].cells = {2};
  const auto found = plan_launches(three, cells(4), 1, 5);
  ASSERT_EQ(found.size(), 1U);
  const auto parts = parts_of(found[0]);
  ASSERT_EQ(parts.size(), 3U);
  EXPECT_EQ(parts[1].rows, (std::vector<std::size_t>{1, 3}));
  EXPECT_EQ(parts[1].cells, (std::vector<std::string>{"1", "3"}));
  EXPECT_EQ(parts[1].id, job_id(parts[1].cells));
  EXPECT_DOUBLE_EQ(parts[1].seconds, 3) << "its share of six seconds";
  const auto single = parts_of(parts[1]);
  ASSERT_EQ(single.size(), 2U);
  EXPECT_EQ(single[1].rows, std::vector<std::size_t>{3});
  EXPECT_TRUE(parts_of(single[1]).empty());
  EXPECT_TRUE(smaller_parts_of(single[1]).empty());
  LaunchPlan fused = parts[1];
  fused.rows = {1, 2, 3};
  fused.cells = {"1", "2", "3"};
  fused.jobs = {3};
  const auto halves = smaller_parts_of(fused);
  ASSERT_EQ(halves.size(), 2U);
  EXPECT_EQ(halves[0].rows, (std::vector<std::size_t>{1}));
  EXPECT_EQ(halves[1].rows, (std::vector<std::size_t>{2, 3}));
  EXPECT_EQ(halves[1].id, job_id({"2", "3"}));
}

}  // namespace launch_plan_test
}  // namespace depthgrid
