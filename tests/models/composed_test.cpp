#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/randn_like.h>

#include "core/base/error.hpp"
#include "core/probe/lyapunov/tangent_map.hpp"
#include "tests/support/model_depth.hpp"
#include "tests/support/verdict.hpp"

namespace depthgrid::testing {
namespace composed_test {

double distance(const at::Tensor& a, const at::Tensor& b) {
  return ((a - b).norm() / b.norm()).item<double>();
}

/// Gradients of a weighted sum of H_L, of H_0 and of all parameters.
std::pair<at::Tensor, at::Tensor> gradients_of(const ModelDepth& depth, const at::Tensor& x0,
                                               const at::Tensor& weight, bool composed) {
  const at::AutoGradMode graph(true);
  depth.built().arena->gradients().zero_();
  const at::Tensor x = x0.detach().clone().requires_grad_(true);
  (depth.run(x, composed) * weight).sum().backward();
  return {x.grad().clone(), depth.built().arena->gradients().clone()};
}

class Composed : public ::testing::TestWithParam<ModelCase> {};

TEST_P(Composed, StatesAndGradientsAreThoseOfTheKernels) {
  const ModelDepth depth(GetParam(), at::kFloat);
  const at::Tensor x = depth.start();
  const at::Tensor weight = at::randn_like(x);

  EXPECT_LT(distance(depth.run(x, true), depth.run(x, false)), 1e-5);
  const auto composed = gradients_of(depth, x, weight, true);
  const auto kernels = gradients_of(depth, x, weight, false);
  EXPECT_LT(distance(composed.first, kernels.first), 1e-5);
  EXPECT_LT(distance(composed.second, kernels.second), 1e-5);
}

TEST_P(Composed, ADerivativeAlongADirectionIsTheCentralDifference) {
  const ModelDepth depth(GetParam(), at::kDouble);
  const at::Tensor x = depth.start(), w = at::randn_like(x);
  at::Tensor v;
  depth.built().arena->gradients().zero_();

  const TangentMap map(depth.map(true), x);
  at::Tensor forward;
  // Where a unit of a ReLU switches between x − hv and x + hv, the quotient is no derivative: that
  // is rare, and another direction has it elsewhere.
  double least = 1;
  for (int direction = 0; direction < 3 && least >= 1e-7; ++direction) {
    v = at::randn_like(x);
    forward = map.forward(v);
    const at::NoGradGuard no_grad;
    const double h = 1e-6;
    const at::Tensor slope = (depth.run(x + v * h, true) - depth.run(x - v * h, true)) / (2 * h);
    least = std::min(least, distance(forward, slope));
  }
  EXPECT_LT(least, 1e-7);
  const at::NoGradGuard no_grad;
  // Both products are of one matrix.
  const double there = (forward * w).sum().item<double>();
  EXPECT_NEAR((map.transposed(w) * v).sum().item<double>(), there, 1e-9 * (1 + std::abs(there)));
  EXPECT_EQ(depth.built().arena->gradients().abs().max().item<double>(), 0);
}

TEST(ComposedStates, OfEveryOptionAreThoseOfTheKernels) {
  double worst = 0;
  for (const ModelCase& one : model_cases()) {
    const ModelDepth depth(one, at::kFloat);
    const at::NoGradGuard no_grad;
    const at::Tensor x = depth.start();
    worst = std::max(worst, distance(depth.run(x, true), depth.run(x, false)));
  }
  verdict(29, "explicit operations against kernels, every option: distance of H_L", worst,
          at_most(1e-5));
}

/// The result of a kernel never counts as a constant.
TEST_P(Composed, KernelsRefuseToBeDifferentiatedTwice) {
  const ModelDepth depth(GetParam(), at::kFloat);
  try {
    const TangentMap map(depth.map(false), depth.start());
    FAIL() << "the derivative would lack a part";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("ForwardContext::composed"), std::string::npos)
        << e.what();
  }
}

TEST_P(Composed, ACellHasTheSameBitsAloneAndFused) {
  const ModelDepth fused(GetParam(), at::kFloat, 2), alone(GetParam(), at::kFloat, 1);
  {
    const at::NoGradGuard no_grad;
    alone.built().arena->values().copy_(fused.built().arena->values().narrow(0, 0, 1));
    alone.built().arena->refresh_shadow();
  }
  const at::Tensor x = fused.start(), v = at::randn_like(x);
  const auto first = [](const at::Tensor& all) { return all.narrow(0, 0, 1); };

  const TangentMap both(fused.map(true), x), one(alone.map(true), first(x));

  EXPECT_TRUE(at::equal(first(both.value()), one.value()));
  EXPECT_TRUE(at::equal(first(both.forward(v)), one.forward(first(v))));
  EXPECT_TRUE(at::equal(first(both.transposed(v)), one.transposed(first(v))));
}

INSTANTIATE_TEST_SUITE_P(EveryOption, Composed, ::testing::ValuesIn(model_cases()),
                         [](const auto& p) { return p.param.name; });

}  // namespace composed_test
}  // namespace depthgrid::testing
