// Depths of time_indexed and tong that are solved as one flow.
#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>

#include "tests/support/small_options.hpp"
#include "tests/support/toy_training.hpp"

namespace depthgrid::testing {
namespace solved_depth_test {

ModelOptions smooth_options(const std::string& family) {
  ModelOptions o = small_options(family, 2);
  o.layers = 6;
  o.time.nodes.assign(2, Nodes::Left);
  o.time.frequencies = 1;
  o.modulation.activation = Activation::Silu;  // a kink in time has no order
  o.residual.scale.assign(2, 1.0 / 6);
  o.init.std.assign(2, 0.3);
  return o;
}

at::Tensor states(ModelOptions o, const char* method, std::int64_t steps) {
  o.solver = {&stepper(method), steps};
  const Built built(o, seeds_of(o), false, at::kDouble);
  const at::NoGradGuard no_grad;
  const at::Tensor tokens = (at::arange(2 * 3 * 7) % o.vocabulary).view({2, 3, 7});
  return built.model->states(tokens, {});
}

TEST(SolvedDepth, EulerWithOneStepForEachLayerIsTheFamilyItself) {
  for (const char* family : {"time_indexed", "tong"}) {
    const ModelOptions o = smooth_options(family);
    const at::Tensor plain = states(o, "euler", 0);
    EXPECT_TRUE(at::equal(states(o, "euler", 6), plain)) << family;
    EXPECT_GT((states(o, "euler", 12) - plain).abs().max().item<double>(), 1e-4) << family;
  }
}

TEST(SolvedDepth, MethodsConvergeToOneSolutionWithTheirOrders) {
  for (const char* family : {"time_indexed", "tong"}) {
    const ModelOptions o = smooth_options(family);
    const at::Tensor exact = states(o, "rk4", 256);
    const auto order = [&](const char* method, std::int64_t steps) {
      const double coarse = (states(o, method, steps) - exact).norm().item<double>();
      const double fine = (states(o, method, 2 * steps) - exact).norm().item<double>();
      return std::log2(coarse / fine);
    };
    EXPECT_NEAR(order("euler", 64), 1, 0.1) << family;
    EXPECT_NEAR(order("midpoint", 32), 2, 0.15) << family;
    EXPECT_NEAR(order("ab2", 32), 2, 0.15) << family;
    EXPECT_NEAR(order("reversible_heun", 32), 2, 0.15) << family;
    EXPECT_NEAR(order("rk4", 16), 4, 0.25) << family;
  }
}

TEST(SolvedDepth, ATimeThatStandsStillStandsStillBetweenNodes) {
  ModelOptions o = smooth_options("time_indexed");
  o.time.constant.assign(2, true);
  o.time.value.assign(2, 0.3);
  const at::Tensor exact = states(o, "rk4", 64);
  // An autonomous field: halving the steps of rk4 leaves its error alone, whatever the nodes.
  EXPECT_LT((states(o, "rk4", 32) - exact).abs().max().item<double>(), 1e-6);
  o.time.value.assign(2, 0.9);
  EXPECT_GT((states(o, "rk4", 64) - exact).abs().max().item<double>(), 1e-4);
}

}  // namespace solved_depth_test
}  // namespace depthgrid::testing
