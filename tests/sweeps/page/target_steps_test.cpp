#include "sweeps/page/target_steps.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/nan.hpp"
#include "sweeps/page/page_sections.hpp"
#include "tests/sweeps/page/block_check.hpp"
#include "tests/sweeps/page/evaluated_stores.hpp"

namespace depthgrid {
namespace target_steps_test {

CurvesByRow curves(const std::vector<std::vector<double>>& values) {
  CurvesByRow out;
  for (std::size_t row = 0; row < values.size(); ++row) out[row].values = values[row];
  return out;
}

TEST(CommonTarget, IsTheHardestThatEveryCurveReaches) {
  EXPECT_EQ(common_target(curves({{4, 2.00004, 2.5}, {4, 1}}), MetricGoal::Minimize), 2.001);
  EXPECT_EQ(common_target(curves({{0.1, 0.56789}, {0.9}}), MetricGoal::Maximize), 0.5678);
  EXPECT_EQ(common_target(curves({{3, kNaN}, {kNaN}}), MetricGoal::Minimize), 3);
  EXPECT_EQ(common_target(curves({{-1.00004}}), MetricGoal::Minimize), -1);
  EXPECT_FALSE(common_target({}, MetricGoal::Minimize).has_value());
}

TEST(StepsSection, ComparesArmsInTheStepsToIt) {
  EvaluatedStores stores({"grid"});
  for (int seed = 0; seed < 4; ++seed) {
    stores.add(0, "slow", seed, {0, 10, 20, 30}, {4, 3.5, 3 + 0.01 * seed, 2.5});
    stores.add(0, "fast", seed, {0, 10, 20, 30}, {4, 2.5 + 0.01 * seed, 2.25, 2});
  }
  stores.cells.baseline("slow");
  const PageData data = page_data(stores.cells.listing, {}, {});
  ASSERT_TRUE(data.steps.has_value());
  EXPECT_EQ(data.steps->target, 2.5);
  const PageBlocks blocks = steps_section(data);
  const PageChart* const chart = chart_named(blocks, "steps-means");
  ASSERT_NE(chart, nullptr);
  EXPECT_EQ(chart->numbers.rows.size(), 8U);
  EXPECT_EQ(chart->command, "depthgrid compare grid --target 2.5");
  EXPECT_TRUE(contains(chart->svg, "steps_to_target.eval_loss.valid (steps)</text>"))
      << "the axis has its unit";
  EXPECT_TRUE(contains(words_of(blocks), "Exploratory: fast differs from slow by -"));
  EXPECT_TRUE(contains(words_of(blocks), "until eval_loss.valid is 2.5"));
}

/// As those that begin from the weights of another arm.
TEST(StepsSection, IsLeftOutWhereACellBeginsAtTheTarget) {
  EvaluatedStores stores({"grid"});
  for (int seed = 0; seed < 3; ++seed) {
    stores.add(0, "fresh", seed, {0, 10, 20}, {4, 3, 2.5 + 0.01 * seed});
    stores.add(0, "warm", seed, {0, 10, 20}, {2.5, 2.4, 2.25 + 0.02 * seed});
  }
  stores.cells.baseline("fresh");
  EXPECT_FALSE(page_data(stores.cells.listing, {}, {}).steps.has_value());
}

/// An arm of another text, say, has another loss altogether.
TEST(StepsSection, ArmsThatAreRefusedSetNoTarget) {
  EvaluatedStores stores({"grid"});
  for (int seed = 0; seed < 3; ++seed) {
    stores.add(0, "base", seed, {0, 10, 20}, {4, 3, 2.5 + 0.01 * seed}).code = "1";
    stores.add(0, "other", seed, {0, 10, 20}, {9, 8, 7}).code = "2";
    stores.add(0, "like", seed, {0, 10, 20}, {4, 2.75, 2.25 + 0.02 * seed}).code = "1";
  }
  stores.cells.baseline("base");
  const PageData data = page_data(stores.cells.listing, {}, {});
  ASSERT_TRUE(data.steps.has_value());
  EXPECT_NEAR(data.steps->target, 2.52, 0.0011);
}

TEST(StepsSection, WithoutCurvesThereIsNone) {
  EXPECT_TRUE(steps_section(page_data(two_factor_grid().listing, {}, {})).empty());
}

}  // namespace target_steps_test
}  // namespace depthgrid
