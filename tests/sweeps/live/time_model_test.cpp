#include "sweeps/live/time_model.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace depthgrid {
namespace time_model_test {

TEST(TimeModel, CorrectsByStructureAndElseByAllThatWasMeasured) {
  TimeModel times;
  EXPECT_TRUE(std::isnan(times.seconds("a", {1, 0, 0})));
  times.trained("a", 10, 20);
  times.trained("b", 10, 60);
  EXPECT_DOUBLE_EQ(times.seconds("a", {5, 0, 0}), 10);
  EXPECT_DOUBLE_EQ(times.seconds("c", {5, 0, 0}), 20) << "80 s for 20 predicted ones";
  times.ended("a", {0, 1, 1}, 6);
  EXPECT_DOUBLE_EQ(times.seconds("b", {5, 1, 0}), 33) << "six times, and three times the ending";
}

TEST(TimeModel, JobsTakeThePlacesThatAreFreeFirst) {
  EXPECT_DOUBLE_EQ(time_to_end({5, 0}, {}), 5);
  EXPECT_DOUBLE_EQ(time_to_end({5, 0}, {{3}, {3}}), 6);
  EXPECT_DOUBLE_EQ(time_to_end({0, 1, 8}, {{4, 2}, {1}}), 8) << "the wide one from 1 to 5";
  EXPECT_DOUBLE_EQ(time_to_end({0, 1, 8}, {{4, 3}}), 12) << "it waits for the third place";
  EXPECT_DOUBLE_EQ(time_to_end({2}, {{4, 3}}), 6) << "more than there are";
}

}  // namespace time_model_test
}  // namespace depthgrid
