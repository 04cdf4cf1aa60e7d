// Methods on problems of known solution: orders, errors at a known size, evaluations.
#include "core/depth/stepper.hpp"

#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <torch/types.h>

#include "core/base/error.hpp"
#include "core/cells/cell_set.hpp"
#include "core/depth/integrator.hpp"

namespace depthgrid {
namespace stepper_test {

/// dy/dt by a function of t and y, which counts its evaluations.
class Equation final : public VectorField {
 public:
  using Right = std::function<at::Tensor(const at::Tensor& t, const at::Tensor& y)>;
  explicit Equation(Right right) : right_(std::move(right)) {}

  FieldValue evaluate(const at::Tensor& x, const DepthPoint& at, const Control&) const override {
    ++evaluations;
    return {right_(per_cell(at.t, x), x), {}};
  }

  mutable std::int64_t evaluations = 0;

 private:
  Right right_;
};

struct Problem {
  Equation field;
  std::vector<double> start, end;  // at t = 0 and t = 1
};

at::Tensor tensor(const std::vector<double>& values) {
  return torch::tensor(values, at::kDouble).view({1, 1, 1, -1});
}

/// y' = -y; y' = y cos t; y' = |y| (y2, -y1), a rotation at speed |y0|; the logistic equation.
std::vector<Problem> problems() {
  const double logistic = 0.1 * std::exp(1) / (1 + 0.1 * (std::exp(1) - 1));
  const double norm = std::hypot(1.0, 0.5);
  std::vector<Problem> out;
  out.push_back({Equation([](const auto&, const auto& y) { return -y; }), {1}, {std::exp(-1)}});
  out.push_back({Equation([](const auto& t, const auto& y) { return y * t.cos(); }),
                 {1},
                 {std::exp(std::sin(1))}});
  out.push_back({Equation([](const auto&, const at::Tensor& y) {
                   const at::Tensor turned = torch::cat({y.narrow(3, 1, 1), -y.narrow(3, 0, 1)}, 3);
                   return y.norm(2, {3}, true) * turned;
                 }),
                 {1, 0.5},
                 {std::cos(norm) + 0.5 * std::sin(norm), 0.5 * std::cos(norm) - std::sin(norm)}});
  out.push_back(
      {Equation([](const auto&, const auto& y) { return y * (1 - y); }), {0.1}, {logistic}});
  return out;
}

double error_of(const std::string& method, const Problem& p, std::int64_t steps) {
  const at::Tensor end = DepthIntegrator(stepper(method))
                             .solve(p.field, flow_grid(1, steps, at::kDouble), tensor(p.start), {});
  return (end - tensor(p.end)).norm().item<double>();
}

/// The slope of log error over log steps, by least squares.
double slope(const std::vector<double>& steps, const std::vector<double>& errors) {
  const auto n = static_cast<double>(steps.size());
  double sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const double x = -std::log2(steps[i]), y = std::log2(errors[i]);
    sx += x, sy += y, sxx += x * x, sxy += x * y;
  }
  return (n * sxy - sx * sy) / (n * sxx - sx * sx);
}

struct Row {
  const char* name;
  double order, tolerance;
  std::vector<std::int64_t> steps;
};

class MethodOrder : public ::testing::TestWithParam<Row> {};

TEST_P(MethodOrder, IsThatOfTheTableOnFourProblems) {
  const Row& row = GetParam();
  EXPECT_EQ(stepper(row.name).order(), row.order);
  const auto all = problems();
  for (std::size_t p = 0; p < all.size(); ++p) {
    std::vector<double> steps, errors;
    for (const std::int64_t m : row.steps) {
      const double e = error_of(row.name, all[p], m);
      if (e < 1e-13) continue;  // rounding
      steps.push_back(static_cast<double>(m));
      errors.push_back(e);
    }
    EXPECT_NEAR(slope(steps, errors), row.order, row.tolerance) << "problem " << p + 1;
  }
}

INSTANTIATE_TEST_SUITE_P(Methods, MethodOrder,
                         ::testing::Values(Row{"euler", 1, 0.1, {16, 32, 64, 128}},
                                           Row{"midpoint", 2, 0.15, {16, 32, 64, 128}},
                                           Row{"heun", 2, 0.15, {16, 32, 64, 128}},
                                           Row{"rk4", 4, 0.15, {16, 32, 64, 128}},
                                           Row{"rk4_38", 4, 0.2, {16, 32, 64, 128}},
                                           Row{"dopri5", 5, 0.4, {8, 16, 32, 64}},
                                           Row{"ab2", 2, 0.15, {16, 32, 64, 128}},
                                           Row{"reversible_heun", 2, 0.15, {16, 32, 64, 128}}),
                         [](const auto& p) { return std::string(p.param.name); });

TEST(Stepper, HasTheErrorsOfTheLiteratureOnDecay) {
  const std::map<std::string, double> expected = {
      {"euler", 1.2e-2}, {"midpoint", 2.5e-4}, {"rk4", 4.9e-8}, {"dopri5", 1.1e-10}};
  const auto all = problems();
  for (const auto& [method, error] : expected) {
    EXPECT_NEAR(error_of(method, all[0], 16), error, 0.2 * error) << method;
  }
}

TEST(Stepper, EvaluatesTheFieldAsOftenAsItSays) {
  const std::map<std::string, std::int64_t> expected = {
      {"euler", 7},   {"midpoint", 14}, {"heun", 14}, {"rk4", 28},
      {"rk4_38", 28}, {"dopri5", 42},   {"ab2", 10},  {"reversible_heun", 8}};
  const auto all = problems();
  for (const auto& [method, count] : expected) {
    EXPECT_EQ(stepper(method).evaluations(7), count) << method;
    all[0].field.evaluations = 0;
    error_of(method, all[0], 7);
    EXPECT_EQ(all[0].field.evaluations, count) << method;
  }
}

TEST(Stepper, AStepOfReversibleHeunIsUndone) {
  const Stepper& method = stepper("reversible_heun");
  const auto all = problems();
  const DepthGrid grid = flow_grid(1, 5, at::kDouble);
  std::vector<DepthState> states = {{tensor(all[2].start)}};
  for (std::int64_t i = 0; i < 5; ++i) {
    states.push_back(method.step(all[2].field, grid, i, states.back(), {}).after);
  }
  DepthState state = states.back();
  for (std::int64_t i = 4; i >= 0; --i) {
    state = method.before(all[2].field, grid, i, state, {}).value();
    const DepthState& was = states[static_cast<std::size_t>(i)];
    EXPECT_LT((state.x - was.x).abs().max().item<double>(), 1e-14) << "step " << i;
    ASSERT_EQ(state.memory.size(), was.memory.size());
    for (std::size_t k = 0; k < was.memory.size(); ++k) {
      EXPECT_LT((state.memory[k] - was.memory[k]).abs().max().item<double>(), 1e-14);
    }
  }
  for (const char* other : {"euler", "rk4", "ab2"}) EXPECT_FALSE(stepper(other).reversible());
}

TEST(Stepper, AnUnknownMethodIsRefusedWithTheKnownOnes) {
  try {
    stepper("rk5");
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("reversible_heun"), std::string::npos) << e.what();
  }
}

}  // namespace stepper_test
}  // namespace depthgrid
