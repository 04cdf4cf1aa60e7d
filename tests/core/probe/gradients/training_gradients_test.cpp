#include "core/probe/gradients/training_gradients.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "core/base/nan.hpp"

namespace depthgrid::testing {
namespace training_gradients_test {

using Numbers = std::vector<double>;

TEST(TrainingGradients, CountsTheStepsOfEachLayerBeyondItsBounds) {
  TrainingGradients all(2, 3, {.vanish_below = 0.1, .explode_above = 10});
  EXPECT_TRUE(std::isnan(all.norm(0)[0])) << "no step was made";
  all.step(0, Numbers{0.05, 1, 20}, Numbers{0.005, 0.1, 2}, 0.1);
  all.step(0, Numbers{0.1, 10, 11}, Numbers{0.1, 10, 11}, 1);
  all.step(0, Numbers{0.01, 0.01, kNaN}, Numbers{0.01, 0.01, kNaN}, 1);
  EXPECT_EQ(all.counts(0).vanished, (Numbers{2, 1, 0})) << "before clip; a bound is not beyond it";
  EXPECT_EQ(all.counts(0).exploded, (Numbers{0, 0, 2}));
  EXPECT_EQ(all.counts(0).clipped, 1);
  EXPECT_EQ(all.norm(0)[1], 0.01);
  EXPECT_EQ(all.counts(1).vanished, (Numbers{0, 0, 0})) << "a neighbour that made no step";
}

TEST(TrainingGradients, GoOnFromTheCountsOfEarlierAttempts) {
  TrainingGradients all(1, 1, {});
  all.restore(0, {.vanished = {kNaN}, .exploded = {4}, .clipped = 5});
  all.step(0, Numbers{1e-7}, Numbers{1e-7}, 0.5);
  all.step(0, Numbers{1e3}, Numbers{1}, 0.5);
  EXPECT_TRUE(std::isnan(all.counts(0).vanished[0])) << "what is not known stays unknown";
  EXPECT_EQ(all.counts(0).exploded, Numbers{5});
  EXPECT_EQ(all.counts(0).clipped, 7);
}

}  // namespace training_gradients_test
}  // namespace depthgrid::testing
