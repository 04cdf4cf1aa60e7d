#include "core/probe/lyapunov/tong_procedure.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include <ATen/TensorOperators.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/linalg_svdvals.h>

#include "tests/core/probe/lyapunov/toy_maps.hpp"

namespace depthgrid::testing {
namespace tong_procedure_test {

/// y_t = x_t + a Σ_{s <= t} x_s: every block of the last token is a I, on the diagonal (1 + a) I.
at::Tensor running_sum(const at::Tensor& x, double a) {
  return x + a * x.cumsum(2);
}

TEST(TongProcedure, AddsTheBlocksOfTheStepsUp) {
  const at::Tensor x = seeded({2, 5, 4}, {1}, 1);
  TongProcedure found;
  double expected = 0;
  for (const double a : {0.5, -0.2, 0.1}) {
    found.advance(TangentMap([a](const at::Tensor& s) { return running_sum(s, a); }, x));
    expected += std::log(1 + a);
  }
  const at::Tensor largest = found.largest();
  EXPECT_EQ(largest.sizes(), (at::IntArrayRef{1, 2, 5}));
  EXPECT_LT((largest - expected).abs().max().item<double>(), 1e-12);
}

// The true derivative of the last token by the first after two such steps is (a + b + ...) I: its
// logarithm has the other sign. This is why the numbers are labelled and off.
TEST(TongProcedure, IsNotTheDerivativeByEarlierTokens) {
  const at::Tensor x = seeded({1, 5, 4}, {1}, 1);
  const auto step = [](const at::Tensor& s) { return running_sum(s, 0.05); };
  TongProcedure found;
  found.advance(TangentMap(step, x));
  found.advance(TangentMap(step, step(x)));
  const at::Tensor whole = dense_jacobian([&](const at::Tensor& s) { return step(step(s)); }, x)
                               .view({5, 4, 5, 4})
                               .select(2, 0)
                               .select(0, 4);
  const double truth = at::linalg_svdvals(whole).max().log().item<double>();
  EXPECT_LT(truth, -2);
  EXPECT_GT(found.largest()[0][0][0].item<double>(), 0);
}

TEST(TongProcedure, ACellHasTheSameBitsAloneAndFused) {
  const at::Tensor x = seeded({2, 6, 8}, {1, 2}, 1);
  TongProcedure fused, alone;
  fused.advance(TangentMap(CausalToy(3, 8, {3, 4}), x));
  alone.advance(TangentMap(CausalToy(3, 8, {4}), x.narrow(0, 1, 1)));
  EXPECT_TRUE(at::equal(fused.largest().narrow(0, 1, 1), alone.largest()));
}

}  // namespace tong_procedure_test
}  // namespace depthgrid::testing
