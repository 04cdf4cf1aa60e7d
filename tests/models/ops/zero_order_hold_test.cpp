#include "models/ops/zero_order_hold.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/linalg_matrix_exp.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/autograd.h>

#include "tests/support/gradient_check.hpp"

namespace depthgrid::testing {
namespace zero_order_hold_test {

double largest(const at::Tensor& x) {
  return x.abs().max().item<double>();
}

/// φ₁ and its derivative by their series in extended precision, for |z| <= 2.
long double series(double z, bool slope) {
  long double sum = 0, power = 1, factorial = 1;  // (k+1)!, or (k+2)! of the derivative
  if (slope) factorial = 2;
  for (int k = 0; k < 60; ++k) {
    sum += power / factorial * (slope ? k + 1 : 1);
    power *= z;
    factorial *= slope ? k + 3 : k + 2;
  }
  return sum;
}

TEST(ZeroOrderHold, OfNumbersHasNoCancellationAnywhere) {
  for (const double z :
       {0.0, -1e-300, -1e-12, -1e-8, -1e-4, -0.0999, -0.1, -0.1001, -1.0, 0.5, 2.0}) {
    for (const bool composed : {false, true}) {
      const at::Tensor in = at::tensor({z}, at::kDouble).requires_grad_();
      const Hold hold = zero_order_hold(in, composed);
      torch::autograd::backward({hold.response}, {at::tensor({1.0}, at::kDouble)});

      EXPECT_NEAR(hold.transition.item<double>(), std::exp(z), 2e-15) << z;
      EXPECT_NEAR(hold.response.item<double>(), static_cast<double>(series(z, false)), 2e-15) << z;
      EXPECT_NEAR(in.grad().item<double>(), static_cast<double>(series(z, true)), 2e-14) << z;
    }
  }
}

TEST(ZeroOrderHold, InFloatIsTheDoubleResultRounded) {
  const at::Tensor z = -at::randn({1000}, at::kFloat).exp();
  const Hold narrow = zero_order_hold(z), wide = zero_order_hold(z.to(at::kDouble));

  EXPECT_TRUE(narrow.transition.equal(wide.transition.to(at::kFloat)));
  EXPECT_TRUE(narrow.response.equal(wide.response.to(at::kFloat)));
}

TEST(ZeroOrderHold, GradientsMatchCentralDifferences) {
  const auto both = [](const at::Tensor& z) {
    const Hold hold = zero_order_hold(z);
    return hold.transition * 2 + hold.response;
  };
  const auto matrices = [](const at::Tensor& z) {
    const Hold hold = matrix_zero_order_hold(z);
    return hold.transition * 2 + hold.response;
  };
  EXPECT_LT(gradient_error(both, at::tensor({-3.0, -0.2, -0.05, -1e-3, 0.7}, at::kDouble)), 1e-8);
  // Small matrices: the third derivative, hence the error of the differences, grows like exp(‖Z‖).
  EXPECT_LT(gradient_error(matrices, at::randn({2, 1, 3, 3}, at::kDouble) * 0.5), 1e-7);
}

/// exp and φ₁ of one matrix as the blocks of the exponential of [[Z, I], [0, 0]].
Hold augmented(const at::Tensor& z) {
  const std::int64_t n = z.size(0);
  const at::Tensor top = at::cat({z, at::eye(n, at::kDouble)}, 1);
  const at::Tensor both = at::linalg_matrix_exp(at::cat({top, at::zeros({n, 2 * n}, at::kDouble)}));
  return {both.narrow(0, 0, n).narrow(1, 0, n), both.narrow(0, 0, n).narrow(1, n, n)};
}

TEST(ZeroOrderHold, OfMatricesIsTheAugmentedExponential) {
  for (const double scale : {1e-9, 0.1, 1.0, 4.0}) {
    const at::Tensor z =
        at::randn({2, 3, 16, 16}, at::kDouble) * (scale / 4) - at::eye(16, at::kDouble) * scale;
    const Hold ours = matrix_zero_order_hold(z);
    for (std::int64_t i = 0; i < 6; ++i) {
      const Hold want = augmented(z.flatten(0, 1)[i]);
      const double size = 1 + largest(want.transition);
      EXPECT_LT(largest(ours.transition.flatten(0, 1)[i] - want.transition) / size, 1e-11) << scale;
      EXPECT_LT(largest(ours.response.flatten(0, 1)[i] - want.response) / size, 1e-11) << scale;
    }
  }
}

TEST(ZeroOrderHold, OfSingularAndOfLargeMatricesIsSound) {
  at::Tensor z = at::zeros({3, 2, 2}, at::kDouble);  // the first is all zero
  z[1][0][1] = 1.0;                                  // nilpotent: exp = I + Z, φ₁ = I + Z/2
  z[2][0][0] = z[2][1][1] = -180.0;                  // decays to nothing: φ₁ = 1/180
  const Hold hold = matrix_zero_order_hold(z);
  const at::Tensor identity = at::eye(2, at::kDouble);

  EXPECT_LT(largest(hold.transition[0] - identity) + largest(hold.response[0] - identity), 1e-15);
  EXPECT_LT(largest(hold.transition[1] - identity - z[1]), 1e-12);
  EXPECT_LT(largest(hold.response[1] - identity - z[1] / 2), 1e-12);
  EXPECT_LT(largest(hold.transition[2]), 1e-10);
  EXPECT_LT(largest(hold.response[2] * 180 - identity), 1e-5);
}

TEST(ZeroOrderHold, AMatrixsBitsDoNotDependOnItsNeighbours) {
  const at::Tensor z = at::randn({5, 3, 37, 37}, at::kFloat) * 0.1;
  const Hold all = matrix_zero_order_hold(z);

  for (std::int64_t e = 0; e < 5; ++e) {
    const Hold alone = matrix_zero_order_hold(z.narrow(0, e, 1));
    EXPECT_TRUE(alone.transition[0].equal(all.transition[e]));
    EXPECT_TRUE(alone.response[0].equal(all.response[e]));
  }
}

}  // namespace zero_order_hold_test
}  // namespace depthgrid::testing
