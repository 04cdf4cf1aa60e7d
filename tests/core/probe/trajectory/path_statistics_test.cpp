#include "core/probe/trajectory/path_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <vector>

#include <gtest/gtest.h>

#include <ATen/TensorOperators.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

namespace depthgrid {
namespace path_statistics_test {

using Point = std::vector<double>;
using Curve = std::function<Point(double tau)>;

/// One token on a curve: (L + 1, 1, C).
at::Tensor along(const Curve& curve, const std::vector<double>& times) {
  std::vector<at::Tensor> points;
  for (const double tau : times) points.push_back(at::tensor(curve(tau), at::kDouble));
  return at::stack(points).unsqueeze(1);
}

PathStatistics statistics(const Curve& curve, const std::vector<double>& times) {
  return path_statistics(along(curve, times), at::tensor(times, at::kDouble));
}

std::vector<double> uniform(int steps) {
  std::vector<double> out;
  for (int l = 0; l <= steps; ++l) out.push_back(static_cast<double>(l) / steps);
  return out;
}

std::vector<double> numbers(const at::Tensor& rows) {
  const at::Tensor flat = rows.contiguous().flatten();
  const double* data = flat.const_data_ptr<double>();
  return {data, data + flat.numel()};
}

/// All equal to `expected`; from `begin` on, and before that undefined.
void expect_all(const at::Tensor& rows, double expected, double tolerance, std::size_t begin = 0) {
  const std::vector<double> found = numbers(rows);
  ASSERT_GT(found.size(), begin);
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (i < begin) {
      EXPECT_TRUE(std::isnan(found[i])) << i << ": " << found[i];
    } else {
      EXPECT_NEAR(found[i], expected, tolerance) << i;
    }
  }
}

const Point kFrom = {1, 2, -2}, kBy = {0.5, -1, 2};

Point on_line(double s) {
  return {kFrom[0] + s * kBy[0], kFrom[1] + s * kBy[1], kFrom[2] + s * kBy[2]};
}

TEST(TrajectoryPaths, AStraightLineAtConstantSpeed) {
  const PathStatistics line = statistics(on_line, {0, 0.1, 0.4, 0.5, 1});  // not uniform
  const double size = 3, speed = std::sqrt(5.25);

  expect_all(line.tortuosity, 1, 1e-14);
  expect_all(line.straightness, 1, 1e-14);
  expect_all(line.velocity, speed / std::sqrt(3), 1e-14);
  expect_all(line.acceleration, 0, 1e-12, 1);
  expect_all(line.curvature, 0, 1e-12, 1);
  expect_all(line.cosine_step, 1, 1e-14, 1);
  expect_all(line.path_length, speed / std::sqrt(3), 1e-14);
  EXPECT_NEAR(numbers(line.norm)[0], size / std::sqrt(3), 1e-15);
  EXPECT_EQ(numbers(line.displacement)[0], 0);
  EXPECT_NEAR(numbers(line.displacement)[2], 0.4 * speed / size, 1e-14);
  EXPECT_NEAR(numbers(line.displacement)[4], speed / size, 1e-14);
  EXPECT_NEAR(numbers(line.relative_velocity)[0], speed / size, 1e-14) << "over the state before";
  EXPECT_NEAR(numbers(line.cosine_final)[4], 1, 1e-15);
}

TEST(TrajectoryPaths, AStraightLineAtChangingSpeedIsNotCurved) {
  const PathStatistics line = statistics([](double t) { return on_line(t * t); }, uniform(8));

  expect_all(line.curvature, 0, 1e-12, 1);
  expect_all(line.acceleration, 2 * std::sqrt(5.25) / std::sqrt(3), 1e-11, 1);
  expect_all(line.tortuosity, 1, 1e-14);
}

TEST(TrajectoryPaths, AParabolaIsExactOnAnyGrid) {
  const std::vector<double> times = {0, 0.05, 0.3, 0.37, 0.8, 1};
  const PathStatistics path =
      statistics([](double t) { return Point{1 + t, 3 * t * t, 0, 0}; }, times);

  expect_all(path.acceleration, 6.0 / 2, 1e-11, 1);
  const std::vector<double> curvature = numbers(path.curvature);
  for (std::size_t l = 1; l < curvature.size(); ++l) {
    const double tau = times[l];  // the state from which step l + 1 begins
    EXPECT_NEAR(curvature[l], 6 / std::pow(1 + 36 * tau * tau, 1.5), 1e-11) << l;
  }
}

TEST(TrajectoryPaths, AnArcHasItsAnglesAndLengths) {
  const double angle = std::numbers::pi / 12, radius = 3;
  const auto circle = [=](double t) {
    return Point{radius * std::cos(6 * angle * t), radius * std::sin(6 * angle * t)};
  };
  const PathStatistics arc = statistics(circle, uniform(6));  // a quarter, in steps of 15 degrees
  const double chord = 2 * radius * std::sin(angle / 2);

  expect_all(arc.cosine_state, std::cos(angle), 1e-14);
  expect_all(arc.cosine_step, std::cos(angle), 1e-13, 1);
  expect_all(arc.path_length, 6 * chord / std::sqrt(2), 1e-13);
  expect_all(arc.tortuosity, 6 * chord / (radius * std::sqrt(2)), 1e-13);
  expect_all(arc.straightness, radius * std::sqrt(2) / (6 * chord), 1e-13);
  expect_all(arc.curvature, 1 / radius / std::pow(std::cos(angle / 2), 2), 1e-13, 1);
  EXPECT_NEAR(numbers(arc.cosine_final)[2], std::cos(4 * angle), 1e-14);
}

/// Largest error of the curvature along the curve.
double curvature_error(const Curve& curve, const std::vector<double>& times, double curvature) {
  double worst = 0;
  const std::vector<double> found = numbers(statistics(curve, times).curvature);
  for (std::size_t l = 1; l < found.size(); ++l) {
    worst = std::max(worst, std::abs(found[l] - curvature));
  }
  return worst;
}

TEST(TrajectoryPaths, TheCurvatureOfAHelixConvergesWithOrderTwo) {
  const Curve helix = [](double t) {  // speed along it changes; its curvature is 2 / (4 + 9)
    const double s = 4 * t + t * t;
    return Point{2 * std::cos(s), 2 * std::sin(s), 3 * s, 1};
  };
  // A grid of changing steps, the same density at each refinement.
  const auto grid = [](int steps) {
    std::vector<double> times = uniform(steps);
    for (double& t : times) t += 0.1 * std::sin(2 * std::numbers::pi * t);
    return times;
  };
  for (const auto& make : {std::function(uniform), std::function<std::vector<double>(int)>(grid)}) {
    const double coarse = curvature_error(helix, make(64), 2.0 / 13);
    const double fine = curvature_error(helix, make(128), 2.0 / 13);
    EXPECT_LT(fine, 2e-4);
    EXPECT_NEAR(std::log2(coarse / fine), 2, 0.15);
  }
}

TEST(TrajectoryPaths, AClosedPathReturns) {
  const PathStatistics path = path_statistics(
      at::tensor(std::vector<double>{3, 0, 3, 4, 3, 0}, at::kDouble).view({3, 1, 2}),
      at::tensor(std::vector<double>{0, 0.5, 1}, at::kDouble));

  EXPECT_EQ(numbers(path.straightness)[0], 0);
  EXPECT_TRUE(std::isnan(numbers(path.tortuosity)[0])) << "the ends do not differ";
  EXPECT_NEAR(numbers(path.cosine_step)[1], -1, 1e-15);
  EXPECT_TRUE(std::isnan(numbers(path.curvature)[1])) << "it has no direction where it turns";
  EXPECT_NEAR(numbers(path.acceleration)[1], 32 / std::sqrt(2), 1e-12);
}

TEST(TrajectoryPaths, AStepThatIsNotMadeHasNoDirection) {
  const at::Tensor x = at::tensor(std::vector<double>{1, 0, 1, 0, 2, 0, 3, 1}, at::kDouble);
  const PathStatistics path = path_statistics(
      x.view({4, 1, 2}), at::tensor(std::vector<double>{0, 0.25, 0.5, 0.75}, at::kDouble));

  EXPECT_EQ(numbers(path.velocity)[0], 0);
  EXPECT_TRUE(std::isnan(numbers(path.cosine_step)[1]));
  EXPECT_NEAR(numbers(path.cosine_step)[2], std::sqrt(0.5), 1e-15);
  EXPECT_EQ(numbers(path.curvature)[1], 0);
}

TEST(TrajectoryPaths, WithoutAnyMovementOrDurationOnlyTheDefinedRemains) {
  const at::Tensor still = at::randn({1, 2, 3}, at::kDouble).expand({4, 2, 3});
  const at::Tensor times = at::tensor(std::vector<double>{0, 0.25, 0.25, 1}, at::kDouble);
  const PathStatistics path = path_statistics(still, times);

  EXPECT_TRUE(std::isnan(numbers(path.tortuosity)[0]));
  EXPECT_TRUE(std::isnan(numbers(path.straightness)[0]));
  EXPECT_EQ(numbers(path.path_length)[0], 0);
  EXPECT_EQ(numbers(path.velocity)[0], 0);
  EXPECT_TRUE(std::isnan(numbers(path.velocity)[2])) << "the second step takes no time";
  EXPECT_TRUE(std::isnan(numbers(path.acceleration)[4]));
  EXPECT_NEAR(numbers(path.cosine_state)[2], 1, 1e-15);
  const PathStatistics origin =
      path_statistics(at::zeros({2, 1, 3}, at::kDouble), times.slice(0, 0, 2));
  EXPECT_TRUE(std::isnan(numbers(origin.displacement)[0]));
  EXPECT_TRUE(std::isnan(numbers(origin.relative_velocity)[0]));
  EXPECT_TRUE(std::isnan(numbers(origin.curvature)[0])) << "a depth of one step has no curvature";
}

TEST(TrajectoryPaths, TokensAreApart) {
  const at::Tensor x = at::randn({5, 7, 6}, at::kDouble);
  const at::Tensor times = at::tensor(std::vector<double>{0, 0.2, 0.5, 0.6, 1}, at::kDouble);
  const PathStatistics all = path_statistics(x, times);
  const PathStatistics one = path_statistics(x.narrow(1, 3, 1), times);

  EXPECT_TRUE(
      all.curvature.narrow(0, 1, 3).select(1, 3).equal(one.curvature.narrow(0, 1, 3).select(1, 0)));
  EXPECT_TRUE(all.cosine_final.select(1, 3).equal(one.cosine_final.select(1, 0)));
  EXPECT_TRUE(all.tortuosity.narrow(0, 3, 1).equal(one.tortuosity));
}

}  // namespace path_statistics_test
}  // namespace depthgrid
