#include "sweeps/queue/lowest_loss.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace depthgrid {
namespace lowest_loss_test {

using Steps = std::vector<std::int64_t>;

TEST(LowestLoss, KnowsTheBestAndWhenPatienceEnds) {
  LowestLoss lowest;
  EXPECT_TRUE(std::isnan(lowest.best));
  EXPECT_FALSE(lowest.see(10, 3.0, 0, 2));
  EXPECT_FALSE(lowest.see(20, 3.5, 0, 2));
  EXPECT_FALSE(lowest.see(30, 2.5, 0, 2));
  EXPECT_FALSE(lowest.see(40, 2.5, 0, 2));  // equal is not lower
  EXPECT_TRUE(lowest.see(50, 2.6, 0, 2));
  EXPECT_EQ(lowest.best, 2.5);
  EXPECT_EQ(lowest.improved, (Steps{10, 30}));
}

TEST(LowestLoss, PatienceAsksForAMarginButTheBestIsTheLowest) {
  LowestLoss lowest;
  EXPECT_FALSE(lowest.see(1, 3.0, 0.5, 2));
  EXPECT_FALSE(lowest.see(2, 2.6, 0.5, 2));
  EXPECT_TRUE(lowest.see(3, 2.55, 0.5, 2)) << "lower, but by less than the margin";
  EXPECT_EQ(lowest.best, 2.55);
  EXPECT_EQ(lowest.improved, (Steps{1, 2, 3}));
  EXPECT_EQ(lowest.patient_since, 1);
  EXPECT_FALSE(lowest.see(4, 2.4, 0.5, 2));
  EXPECT_EQ(lowest.patient_since, 4);
}

TEST(LowestLoss, BearsAnythingWithoutPatience) {
  LowestLoss lowest;
  for (std::int64_t step = 1; step < 40; ++step) EXPECT_FALSE(lowest.see(step, 9.0, 0.5, {}));
}

TEST(LowestLoss, TheStartIsNeverTheBestButCountsForPatience) {
  LowestLoss lowest;
  EXPECT_FALSE(lowest.see(0, 2.0, 0, 2));
  EXPECT_FALSE(lowest.see(10, 4.0, 0, 2));
  EXPECT_TRUE(lowest.see(20, 3.0, 0, 2));
  EXPECT_EQ(lowest.best, 3.0);
  EXPECT_EQ(lowest.improved, (Steps{10, 20})) << "no checkpoint holds the initial weights";
  EXPECT_EQ(lowest.patient_since, 0);
}

}  // namespace lowest_loss_test
}  // namespace depthgrid
