#include "core/probe/lyapunov/tangent_map.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>

#include <gtest/gtest.h>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_make_dual.h>
#include <ATen/ops/_unpack_dual.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/csrc/autograd/forward_grad.h>

#include "core/base/error.hpp"
#include "core/probe/lyapunov/directions.hpp"
#include "tests/core/probe/lyapunov/toy_maps.hpp"
#include "tests/support/verdict.hpp"

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

  verdict(28, "Dv, float64: distance from the dense Jacobian's",
          largest(map.forward(v).flatten() - at::matmul(jacobian, v.flatten())), at_most(1e-12));
  EXPECT_LT(largest(map.transposed(v).flatten() - at::matmul(jacobian.t(), v.flatten())), 1e-12);
  EXPECT_LT(largest(map.value() - toy(x)), 1e-15);
}

TEST(TangentMap, AgreesWithACentralDifference) {
  const CausalToy toy(3, 4, {5, 6});
  const at::Tensor x = at::randn({2, 3, 5, 4}, at::kDouble);
  const at::Tensor v = at::randn({2, 3, 5, 4}, at::kDouble);
  const double h = 1e-5;

  const at::Tensor slope = (toy(x + v * h) - toy(x - v * h)) / (2 * h);

  verdict(28, "Dv, float64: distance from a central difference",
          largest(TangentMap(toy, x).forward(v) - slope), at_most(1e-8));
}

/// Dv by forward differentiation. The level ends whatever happens, or no later one could begin.
at::Tensor forward_mode(const StateMap& map, const at::Tensor& x, const at::Tensor& v) {
  struct Level {
    std::uint64_t id = torch::autograd::ForwardADLevel::get_next_idx();
    ~Level() { torch::autograd::ForwardADLevel::release_idx(id); }
  };
  const Level level;
  const auto number = static_cast<std::int64_t>(level.id);
  const at::Tensor y = map(at::_make_dual(x, v, number));
  return std::get<1>(at::_unpack_dual(y, number)).clone();
}

TEST(TangentMap, AgreesWithForwardDifferentiation) {
  for (const auto& [type, limit] : {std::pair(at::kDouble, 1e-12), std::pair(at::kFloat, 1e-5)}) {
    const CausalToy toy(3, 4, {5, 6}, type);
    const at::Tensor x = at::randn({2, 3, 5, 4}, type), v = at::randn({2, 3, 5, 4}, type);
    const std::string name = type == at::kDouble ? "float64" : "float32";
    verdict(28, "Dv, " + name + ": distance from forward differentiation",
            largest(TangentMap(toy, x).forward(v) - forward_mode(toy, x, v)), at_most(limit));
  }
}

TEST(TangentMap, ManyDirectionsGiveWhatEachGivesAlone) {
  const CausalToy toy(3, 4, {5, 6}, at::kFloat);
  const at::Tensor x = at::randn({2, 3, 5, 4}), rows = at::randn({2, 3, 4, 20}, at::kDouble);
  const TangentMap map(toy, x);
  const at::Tensor many =
      each_direction([&](const at::Tensor& v) { return map.forward(v); }, map.sizes(), rows);
  double worst = 0;
  for (std::int64_t i = 0; i < 4; ++i) {
    const at::Tensor alone = TangentMap(toy, x).forward(rows.select(2, i).reshape(x.sizes()));
    worst = std::max(worst, largest(many.select(2, i) - alone.flatten(2)));
  }
  verdict(28, "Dv, float32: distance between k directions and each alone", worst, at_most(1e-6));
}

TEST(TangentMap, AnExceptionInTheMapLeavesLaterOnesWorking) {
  const at::Tensor x = at::randn({1, 1, 2, 3}, at::kDouble);
  const StateMap broken = [](const at::Tensor& a) -> at::Tensor {
    const at::Tensor begun = at::tanh(a);
    throw std::runtime_error("inside");
  };
  EXPECT_THROW(TangentMap(broken, x), std::runtime_error);
  const TangentMap later([](const at::Tensor& a) { return a * 3; }, x);
  verdict(28, "after an exception inside a map: distance of a later Dv from 3 v",
          largest(later.forward(x) - x * 3), exactly(0));
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
  bool refused = false;
  try {
    const TangentMap map(fused, x);
    map.forward(x);
  } catch (const Error& e) {
    refused = std::string(e.what()).find("cannot be differentiated twice") != std::string::npos;
  }
  verdict(29, "fused attention: refused by name (1) or differentiated (0)", refused ? 1 : 0,
          exactly(1));
  // An exception leaves later maps working.
  EXPECT_EQ(largest(TangentMap([](const at::Tensor& a) { return a * 3; }, x).forward(x) - x * 3),
            0);
}

}  // namespace tangent_map_test
}  // namespace depthgrid::testing
