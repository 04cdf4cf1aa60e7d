#include "sweeps/queue/lowest_loss.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace depthgrid {
namespace lowest_loss_test {

using enum LowestLoss::Verdict;

TEST(LowestLoss, KnowsTheBestAndWhenPatienceEnds) {
  LowestLoss lowest;
  EXPECT_TRUE(std::isnan(lowest.best));
  EXPECT_EQ(lowest.see(10, 3.0, 0, 2), Better);
  EXPECT_EQ(lowest.see(20, 3.5, 0, 2), NotBetter);
  EXPECT_EQ(lowest.see(30, 2.5, 0, 2), Better);
  EXPECT_EQ(lowest.see(40, 2.5, 0, 2), NotBetter);  // equal is not lower
  EXPECT_EQ(lowest.see(50, 2.6, 0, 2), OutOfPatience);
  EXPECT_EQ(lowest.best, 2.5);
  EXPECT_EQ(lowest.improved, (std::vector<std::int64_t>{10, 30}));
}

TEST(LowestLoss, AsksForAMarginAndBearsAnythingWithoutPatience) {
  LowestLoss lowest;
  EXPECT_EQ(lowest.see(1, 3.0, 0.5, {}), Better);
  EXPECT_EQ(lowest.see(2, 2.6, 0.5, {}), NotBetter);
  EXPECT_EQ(lowest.see(3, 2.4, 0.5, {}), Better);
  for (std::int64_t step = 4; step < 40; ++step) {
    EXPECT_EQ(lowest.see(step, 9.0, 0.5, {}), NotBetter);
  }
}

}  // namespace lowest_loss_test
}  // namespace depthgrid
