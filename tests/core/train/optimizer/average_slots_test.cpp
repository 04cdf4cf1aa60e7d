#include "core/train/optimizer/average_slots.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include <ATen/TensorOperators.h>
#include <ATen/ops/equal.h>

#include "core/train/cell_optimizer.hpp"

namespace depthgrid::testing {
namespace average_slots_test {

/// Two cells of one weight and one average behind it.
struct Subject {
  Subject() {
    ParameterLayout layout;
    layout.parameter(weight());
    layout.parameter(average());
    arena = std::make_unique<Arena>(layout, std::vector<std::uint64_t>{1, 2}, at::kFloat);
    arena->parameter(weight());
    arena->parameter(average());
    options.cells = 2;
    options.steps = 1000;
    for (std::size_t e = 0; e < 2; ++e) {
      options.clip.push_back(1);
      options.loss_scale.push_back(e == 0 ? 1 : 4);
      options.schedule.emplace_back().steps = 1000;
      options.lr.insert(options.lr.end(), kParameterGroupCount, 0.1);
      options.weight_decay.insert(options.weight_decay.end(), kParameterGroupCount, 0.5);
    }
    for (const double scalar : {0.9, 0.999, 1e-8}) options.scalars.emplace_back(2, scalar);
    optimizer = std::make_unique<CellOptimizer>(*arena, options);
  }

  static ParameterSpec weight() { return {.name = "weight", .shape = {3}}; }
  static ParameterSpec average() {
    return {.name = "average", .shape = {1}, .init = {.fill = {1.0}}, .average = true};
  }

  /// One step in which both cells see a mean, and the weight a gradient.
  CellOptimizer::Report step(std::int64_t number, float seen, std::uint8_t second = 1) const {
    arena->gradients().fill_(0.5);
    arena->gradients()[0][3] = seen;
    arena->gradients()[1][3] = 4 * seen;  // under its loss scale
    return optimizer->step(number, {1, second});
  }

  double value(std::int64_t cell) const { return arena->values()[cell][3].item<double>(); }

  TrainOptions options;
  std::unique_ptr<Arena> arena;
  std::unique_ptr<CellOptimizer> optimizer;
};

TEST(AverageSlots, AreTheMeanOfTheFirstStepsAndThenExponential) {
  const Subject s;
  double want = 0, sum = 0;
  for (std::int64_t step = 1; step <= 150; ++step) {
    const auto seen = static_cast<float>(2 + std::sin(step));
    sum += seen;
    want = step <= 100 ? sum / static_cast<double>(step) : want + 0.01 * (seen - want);
    s.step(step, seen);
    ASSERT_NEAR(s.value(0), want, 1e-5) << step;
    ASSERT_NEAR(s.value(1), want, 1e-5) << step;
  }
  EXPECT_EQ(s.arena->gradients().abs().max().item<double>(), 0);
}

TEST(AverageSlots, HaveNoPartInNormsAndTheOtherParametersDoNotSeeThem) {
  const Subject one, other;
  const auto a = one.step(1, 1), b = other.step(1, 1000);

  EXPECT_EQ(a.norms.norm, b.norms.norm);
  EXPECT_NEAR(a.norms.norm[0], std::sqrt(3 * 0.25), 1e-6);
  EXPECT_TRUE(
      at::equal(one.arena->values().narrow(1, 0, 3), other.arena->values().narrow(1, 0, 3)));
  EXPECT_EQ(other.value(0), 1000);
}

TEST(AverageSlots, ACellThatIsNotActiveOrNotFiniteKeepsItsOwn) {
  const Subject s;
  s.step(1, 5);
  s.step(2, 7, 0);
  EXPECT_EQ(s.value(0), 6);
  EXPECT_EQ(s.value(1), 5);
  s.arena->gradients().fill_(0.5);
  s.arena->gradients()[1][0] = std::numeric_limits<float>::quiet_NaN();
  s.optimizer->step(3, {1, 1});
  EXPECT_NE(s.value(0), 6);
  EXPECT_EQ(s.value(1), 5);
}

}  // namespace average_slots_test
}  // namespace depthgrid::testing
