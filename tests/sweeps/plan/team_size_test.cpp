#include "sweeps/plan/team_size.hpp"

#include <gtest/gtest.h>

#include "core/base/nan.hpp"
#include "sweeps/plan/job_plan.hpp"
#include "tests/support/cell_identity.hpp"

namespace depthgrid {
namespace team_size_test {

constexpr double kHours = 3600;

TEST(TeamSize, EachDoublingHasItsPrice) {
  EXPECT_DOUBLE_EQ(team_seconds(100, 1), 100);
  EXPECT_DOUBLE_EQ(team_seconds(100, 2), 100 / 1.7);
  EXPECT_NEAR(team_seconds(100, 8), 100 / (8 * 0.85 * 0.85 * 0.85), 1e-9);
}

TEST(TeamSize, OneRankIsEnoughForACellThatEndsInTime) {
  const TeamLimits limits{64, 2 * kHours};
  EXPECT_EQ(team_size(2 * kHours, nullptr, limits).ranks, 1);
  EXPECT_EQ(team_size(2 * kHours, nullptr, limits).why, "");
  EXPECT_EQ(team_size(kNaN, nullptr, limits).ranks, 1);
  EXPECT_EQ(team_size(1e9, nullptr, {64, 0}).ranks, 1);  // no limit
}

TEST(TeamSize, ASlowCellGetsTheSmallestTeamThatEndsInTime) {
  const TeamLimits limits{64, 2 * kHours};
  // 2 ranks are 1.7 times as fast, 4 are 2.89, 8 are 4.913.
  EXPECT_EQ(team_size(2.01 * kHours, nullptr, limits).ranks, 2);
  EXPECT_EQ(team_size(3.39 * kHours, nullptr, limits).ranks, 2);
  EXPECT_EQ(team_size(3.41 * kHours, nullptr, limits).ranks, 4);
  EXPECT_EQ(team_size(5.79 * kHours, nullptr, limits).ranks, 8);
  EXPECT_EQ(team_size(1e9, nullptr, limits).ranks, 64);
  EXPECT_EQ(team_size(1e9, nullptr, {6, kHours}).ranks, 4);  // powers of two
  EXPECT_EQ(team_size(1e9, nullptr, {1, kHours}).ranks, 1);
  const TeamSize size = team_size(3 * kHours, nullptr, limits);
  EXPECT_EQ(
      size.why,
      "2 ranks: a cell alone would take about 3 h 00 min, resources.max_cell_time is 2 h 00 min");
}

TEST(TeamSize, RanksShareTheActivationsOfACellThatDoesNotFit) {
  StructureCost cost;
  cost.fixed_bytes = 100;
  cost.bytes_per_cell = 900;
  cost.activation_bytes_per_cell = 800;
  EXPECT_EQ(team_size(1, &cost, {64, kHours, 1000}).ranks, 1);
  EXPECT_EQ(team_size(1, &cost, {64, kHours, 999}).ranks, 2);
  EXPECT_EQ(team_size(1, &cost, {64, kHours, 301}).ranks, 8);
  EXPECT_NE(team_size(1, &cost, {64, kHours, 301}).why.find("does not fit"), std::string::npos);
  EXPECT_EQ(team_size(1, &cost, {64, kHours, 200}).ranks, 1);  // no team cures that
}

TEST(TeamSize, RanksThatDivideTheMomentsNeedLessMemory) {
  StructureCost cost;
  cost.fixed_bytes = 100;
  cost.bytes_per_cell = 900;
  cost.activation_bytes_per_cell = 200;
  cost.moment_bytes_per_cell = 400;
  EXPECT_DOUBLE_EQ(rank_bytes(cost, 1, 1, true), 1000);
  EXPECT_DOUBLE_EQ(rank_bytes(cost, 3, 2, false), 100 + 3 * (700 + 100));
  EXPECT_DOUBLE_EQ(rank_bytes(cost, 3, 2, true), 100 + 3 * (300 + 300));
  EXPECT_EQ(team_size(1, &cost, {64, kHours, 700}).ranks, 1);  // 800 bytes are on each
  EXPECT_EQ(team_size(1, &cost, {64, kHours, 700, true}).ranks, 2);
  EXPECT_EQ(team_size(1, &cost, {64, kHours, 550, true}).ranks, 4);
}

JobCell cell(const std::string& id, const std::string& structure, double hours) {
  return {id, structure, hours * kHours, "", 0, hours * kHours * kNominalCoreRate};
}

TEST(TeamSize, OneSweepHasTeamsOfSeveralSizesWidestFirst) {
  const std::vector<JobCell> cells = {cell("a", "small", 1), cell("b", "large", 3),
                                      cell("c", "small", 1), cell("d", "huge", 5)};
  PackingOptions options = packing_options(make_config({}), 8);
  EXPECT_TRUE(options.auto_ranks);
  EXPECT_DOUBLE_EQ(options.cell_seconds, 2 * kHours);
  options.fuse = 1;
  const auto jobs = plan_jobs(cells, std::vector<bool>(4, true), options, {});
  ASSERT_EQ(jobs.size(), 4U);
  EXPECT_EQ(jobs[0].ranks, 4);
  EXPECT_EQ(jobs[1].ranks, 2);
  EXPECT_EQ(jobs[2].ranks, 1);
  EXPECT_DOUBLE_EQ(jobs[0].predicted_seconds, team_seconds(5 * kHours, 4));
  EXPECT_NE(jobs[1].why.find("2 ranks: a cell alone would take"), std::string::npos) << jobs[1].why;
  // All eight ranks at once: the longest is 3 h on two ranks.
  EXPECT_DOUBLE_EQ(predicted_makespan(jobs, 8), team_seconds(3 * kHours, 2));
  EXPECT_GT(predicted_makespan(jobs, 4), predicted_makespan(jobs, 8));
}

TEST(TeamSize, TheChoiceFollowsOperationsAndNotMeasuredTimes) {
  const PackingOptions options = packing_options(make_config({}), 8);
  JobCell large = cell("a", "large", 3);
  const std::int64_t ranks = plan_jobs({large}, {true}, options, {})[0].ranks;
  EXPECT_EQ(ranks, 2);
  large.seconds = 1;
  EXPECT_EQ(plan_jobs({large}, {true}, options, {})[0].ranks, ranks);
  PackingOptions gpus = options;
  gpus.gpu = true;
  EXPECT_EQ(plan_jobs({large}, {true}, gpus, {})[0].ranks, 1);
}

TEST(TeamSize, EqualTeamsAreAsWideAsTheWidest) {
  CellPlan plan;
  plan.structure = "s";
  plan.config = make_config({{"train.steps", 1000}, {"train.batch_size", 10}});
  StructureCost cost;
  const double tokens = 1e4 * static_cast<double>(plan.config.integer("data.seq_len"));
  cost.flops_per_token = 3 * kHours * kNominalCoreRate / 3 / tokens;  // 3 h
  CostTable costs;
  costs["s"] = cost;
  EXPECT_EQ(equal_teams({plan}, packing_options(make_config({}), 8), costs), 2);
  EXPECT_EQ(equal_teams({plan}, packing_options(make_config({}), 1), costs), 1);
  EXPECT_EQ(equal_teams({plan}, packing_options(make_config({}), 8), {}), 1);
  const auto limit = packing_options(make_config({{"resources.max_cell_time", "1:00:00"}}), 8);
  EXPECT_EQ(equal_teams({plan}, limit, costs), 8);  // 3 h / 2.89 is too long
  const auto fixed = packing_options(make_config({{"resources.ranks_per_job", 3}}), 2);
  EXPECT_EQ(equal_teams({plan}, fixed, costs), 3);
}

TEST(TeamSize, ANumberOfTheUserIsTakenLiterally) {
  PackingOptions options = packing_options(make_config({{"resources.ranks_per_job", 2}}), 1);
  EXPECT_FALSE(options.auto_ranks);
  const auto jobs = plan_jobs({cell("a", "s", 100)}, {true}, options, {});
  EXPECT_EQ(jobs[0].ranks, 2);
}

}  // namespace team_size_test
}  // namespace depthgrid
