#include "sweeps/simulate/scaling.hpp"

#include <chrono>
#include <cmath>

#include <gtest/gtest.h>

#include "core/base/error.hpp"

namespace depthgrid {
namespace scaling_test {

std::vector<JobCell> cells_of(int n, double seconds) {
  std::vector<JobCell> out;
  for (int i = 0; i < n; ++i) out.push_back({"c" + std::to_string(i), "s", seconds});
  return out;
}

TEST(Scaling, ClustersAreReadAsNodesTimesDevices) {
  ClusterModel like;
  like.time_limit = 7;
  const auto two = cluster_sizes("1x8,128x8", like);
  ASSERT_EQ(two.size(), 2U);
  EXPECT_EQ(two[0].devices(), 8);
  EXPECT_EQ(two[1].devices(), 1024);
  EXPECT_EQ(two[1].size(), "128x8");
  EXPECT_EQ(two[1].time_limit, 7);
  const auto table = cluster_sizes("scaling", like);
  EXPECT_EQ(table.front().devices(), 1);
  EXPECT_EQ(table.back().devices(), 1024);
  for (const char* text :
       {"", "8", "x8", "1x", "0x8", "1x8,", "1x8x2", "-1x8", "1000000x8", "axb"}) {
    EXPECT_THROW(cluster_sizes(text, like), UserError) << text;
  }
}

TEST(Scaling, TheSpreadIsThatOfASample) {
  const Spread spread = spread_of({1, 2, 3, 4});
  EXPECT_DOUBLE_EQ(spread.mean, 2.5);
  EXPECT_DOUBLE_EQ(spread.deviation, std::sqrt(5.0 / 3));
  EXPECT_DOUBLE_EQ(spread.least, 1);
  EXPECT_DOUBLE_EQ(spread.most, 4);
  EXPECT_DOUBLE_EQ(spread_of({7}).deviation, 0);
}

TEST(Scaling, MoreDevicesShareTheWorkUntilEveryCellIsAlone) {
  ClusterModel like;
  like.launch_seconds = 0;
  const auto rows = scaling_of(cells_of(64, 100), std::vector<bool>(64, true), {}, {},
                               cluster_sizes("1x1,1x8,8x8,16x8", like), 5);
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_DOUBLE_EQ(rows[0].makespan.mean, 6400);
  EXPECT_DOUBLE_EQ(rows[1].makespan.mean, 800);
  EXPECT_DOUBLE_EQ(rows[2].makespan.mean, 100);
  EXPECT_DOUBLE_EQ(rows[3].makespan.mean, 100);
  EXPECT_DOUBLE_EQ(rows[3].idle_share.mean, 0.5);
  EXPECT_EQ(rows[3].repetitions, 1);  // nothing is left to chance
  EXPECT_DOUBLE_EQ(rows[1].bound, 800);
  EXPECT_NE(scaling_text(rows).find("16x8"), std::string::npos);
  EXPECT_NE(scaling_text(rows).find("50.0 %"), std::string::npos);
}

TEST(Scaling, FasterDevicesShortenTheWorkButNotTheStart) {
  ClusterModel like;
  like.launch_seconds = 3;
  like.speed = 10;
  const auto rows = scaling_of(cells_of(4, 100), std::vector<bool>(4, true), {}, {},
                               cluster_sizes("1x4,2x4", like), 1);
  EXPECT_DOUBLE_EQ(rows[0].makespan.mean, 13);
  EXPECT_DOUBLE_EQ(rows[1].makespan.mean, 13);
}

TEST(Scaling, AHundredThousandCellsOnAThousandDevicesAreSimulatedAtOnce) {
  const auto begin = std::chrono::steady_clock::now();
  ClusterModel like;
  like.preemptions_per_hour = 0.05;
  like.time_limit = 4 * 3600;
  PackingOptions alone;
  alone.fuse = 1;
  const auto rows = scaling_of(cells_of(100000, 600), std::vector<bool>(100000, true), alone, {},
                               cluster_sizes("128x8", like), 3);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].jobs, 100000U);
  EXPECT_EQ(rows[0].repetitions, 3);
  EXPECT_GT(rows[0].restarts.mean, 0);
  EXPECT_GE(rows[0].makespan.least, rows[0].bound);
  EXPECT_LT(rows[0].makespan.most, 1.2 * rows[0].bound);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  EXPECT_LT(took.count(), 30);  // a few seconds on an idle machine
}

}  // namespace scaling_test
}  // namespace depthgrid
