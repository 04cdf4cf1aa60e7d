#include "core/probe/lyapunov/tangent_map.hpp"

#include <gtest/gtest.h>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/custom_function.h>

#include "core/base/error.hpp"
#include "tests/core/probe/lyapunov/toy_maps.hpp"

namespace depthgrid::testing {
namespace tangent_map_test {

double largest(const at::Tensor& x) {
  return x.abs().max().item<double>();
}

TEST(TangentMap, ProductsAreThoseOfTheDenseJacobian) {
  const CausalToy toy(3, 4, {5});
  const at::Tensor x = at::randn({1, 1, 3, 4}, at::kDouble);
  const at::Tensor v = at::randn({1, 1, 3, 4}, at::kDouble);
  const at::Tensor jacobian = dense_jacobian(toy, x);

  const TangentMap map(toy, x);

  EXPECT_LT(largest(map.forward(v).flatten() - at::matmul(jacobian, v.flatten())), 1e-12);
  EXPECT_LT(largest(map.transposed(v).flatten() - at::matmul(jacobian.t(), v.flatten())), 1e-12);
  EXPECT_LT(largest(map.value() - toy(x)), 1e-15);
}

TEST(TangentMap, AgreesWithACentralDifference) {
  const CausalToy toy(3, 4, {5, 6});
  const at::Tensor x = at::randn({2, 3, 5, 4}, at::kDouble);
  const at::Tensor v = at::randn({2, 3, 5, 4}, at::kDouble);
  const double h = 1e-5;

  const at::Tensor slope = (toy(x + v * h) - toy(x - v * h)) / (2 * h);

  EXPECT_LT(largest(TangentMap(toy, x).forward(v) - slope), 1e-8);
}

TEST(TangentMap, ManyDirectionsShareOneGraph) {
  int calls = 0;
  const StateMap counted = [&](const at::Tensor& x) {
    ++calls;
    return at::tanh(x * x);
  };
  const at::Tensor x = at::randn({1, 2, 2, 3}, at::kDouble);
  const TangentMap map(counted, x);
  const at::Tensor first = map.forward(x);
  for (int i = 0; i < 3; ++i) {
    map.transposed(x);
    EXPECT_EQ(largest(map.forward(x) - first), 0);  // nothing of a pass is left for the next
  }
  EXPECT_EQ(calls, 1);
}

TEST(TangentMap, LinearConstantAndIdentityMapsAreNotSpecial) {
  const at::Tensor x = at::randn({2, 1, 2, 3}, at::kDouble);
  const at::Tensor v = at::randn({2, 1, 2, 3}, at::kDouble);

  const TangentMap twice([](const at::Tensor& a) { return a * 2; }, x);
  EXPECT_EQ(largest(twice.forward(v) - v * 2), 0);
  const TangentMap same([](const at::Tensor& a) { return a; }, x);
  EXPECT_EQ(largest(same.forward(v) - v), 0);
  EXPECT_EQ(largest(same.transposed(v) - v), 0);
  const TangentMap fixed([&](const at::Tensor&) { return v; }, x);
  EXPECT_EQ(largest(fixed.forward(v)) + largest(fixed.transposed(v)), 0);
}

TEST(TangentMap, ParametersReceiveNoGradient) {
  const at::Tensor w = at::randn({3, 3}, at::kDouble).requires_grad_(true);
  const at::Tensor v = at::randn({1, 1, 2, 3}, at::kDouble);
  {
    const at::NoGradGuard as_in_an_evaluation;
    const TangentMap map([&](const at::Tensor& a) { return at::tanh(at::matmul(a, w)); }, v);

    const at::Tensor forward = map.forward(v), back = map.transposed(v);

    EXPECT_FALSE(forward.requires_grad() || back.requires_grad() || map.value().requires_grad());
    EXPECT_GT(largest(forward), 0);
    EXPECT_FALSE(at::GradMode::is_enabled());
  }
  EXPECT_FALSE(w.grad().defined());
}

TEST(TangentMap, FusedAttentionIsRefusedWithAClearError) {
  const at::Tensor x = at::randn({1, 1, 4, 8}, at::kFloat);
  const StateMap fused = [](const at::Tensor& a) {
    return at::scaled_dot_product_attention(a, a, a, {}, 0.0, true);
  };
  try {
    const TangentMap map(fused, x);
    map.forward(x);
    FAIL() << "a map that is differentiable once was accepted";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("cannot be differentiated twice"), std::string::npos);
  }
  // An exception leaves later maps working.
  EXPECT_EQ(largest(TangentMap([](const at::Tensor& a) { return a * 3; }, x).forward(x) - x * 3),
            0);
}

}  // namespace tangent_map_test
}  // namespace depthgrid::testing
