#include "sweeps/queue/lowest_losses.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace depthgrid {
namespace lowest_losses_test {

using enum LowestLosses::Verdict;

TEST(LowestLosses, KnowTheBestOfEachCellAndWhenPatienceEnds) {
  LowestLosses lowest(2);
  EXPECT_TRUE(std::isnan(lowest.best(0)));
  EXPECT_EQ(lowest.see(0, 10, 3.0, 0, 2), Better);
  EXPECT_EQ(lowest.see(0, 20, 3.5, 0, 2), NotBetter);
  EXPECT_EQ(lowest.see(0, 30, 2.5, 0, 2), Better);
  EXPECT_EQ(lowest.see(0, 40, 2.5, 0, 2), NotBetter);  // equal is not lower
  EXPECT_EQ(lowest.see(0, 50, 2.6, 0, 2), OutOfPatience);
  EXPECT_EQ(lowest.best(0), 2.5);
  EXPECT_EQ(lowest.improved(0), (std::vector<std::int64_t>{10, 30}));
  EXPECT_TRUE(lowest.improved(1).empty());
}

TEST(LowestLosses, AskForAMarginAndBearAnythingWithoutPatience) {
  LowestLosses lowest(1);
  EXPECT_EQ(lowest.see(0, 1, 3.0, 0.5, {}), Better);
  EXPECT_EQ(lowest.see(0, 2, 2.6, 0.5, {}), NotBetter);
  EXPECT_EQ(lowest.see(0, 3, 2.4, 0.5, {}), Better);
  for (std::int64_t step = 4; step < 40; ++step) {
    EXPECT_EQ(lowest.see(0, step, 9.0, 0.5, {}), NotBetter);
  }
}

}  // namespace lowest_losses_test
}  // namespace depthgrid
