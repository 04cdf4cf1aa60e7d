#include "models/ops/softplus.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include <ATen/TensorOperators.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/linspace.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>
#include <torch/csrc/autograd/autograd.h>

#include "tests/support/gradient_check.hpp"

namespace depthgrid::testing {
namespace softplus_test {

double largest(const at::Tensor& x) {
  return x.abs().max().item<double>();
}

at::Tensor slope_of_states(const at::Tensor& input, const at::Tensor& dy) {
  const at::Tensor x = input.detach().clone().requires_grad_();
  torch::autograd::backward({softplus_of_states(x)}, {dy});
  return x.grad();
}

TEST(Softplus, IsExactAtBothEndsAndHasTheLogisticSlope) {
  const at::Tensor x = at::tensor({-800.0, -20.0, -1.0, 0.0, 1.0, 20.0, 800.0}, at::kDouble);
  const at::Tensor y = depthgrid::softplus(x);

  EXPECT_EQ(y[0].item<double>(), 0);
  EXPECT_NEAR(y[1].item<double>() / std::exp(-20.0), 1, 1e-8);
  EXPECT_NEAR(y[3].item<double>(), std::log(2.0), 1e-15);
  EXPECT_EQ(y[6].item<double>(), 800);
  EXPECT_LT(
      gradient_error([](const at::Tensor& v) { return depthgrid::softplus(v); }, x.narrow(0, 1, 5)),
      1e-8);
}

TEST(SoftplusOfStates, HasTheRelativeErrorOfRoundingOverTheWholeRange) {
  const at::Tensor x = at::linspace(-87, 60, 200'001, at::kFloat);
  const at::Tensor wide = x.to(at::kDouble);
  const at::Tensor ones = at::ones_like(x);

  const at::Tensor value = softplus_of_states(x).to(at::kDouble) / depthgrid::softplus(wide);
  const at::Tensor slope = slope_of_states(x, ones).to(at::kDouble) * (1 + at::exp(-wide));

  EXPECT_LT(largest(value - 1), 4e-7);
  EXPECT_LT(largest(slope - 1), 4e-7);
}

TEST(SoftplusOfStates, AnElementsBitsDoNotDependOnItsPlace) {
  const at::Tensor x = at::randn({1000}, at::kFloat) * 3;
  const at::Tensor dy = at::randn({1000}, at::kFloat);
  const at::Tensor y = softplus_of_states(x);
  const at::Tensor dx = slope_of_states(x, dy);

  for (std::int64_t begin = 0; begin < 67; ++begin) {
    const at::Tensor part = x.narrow(0, begin, 1000 - 2 * begin);
    EXPECT_TRUE(softplus_of_states(part).equal(y.narrow(0, begin, part.numel())));
    EXPECT_TRUE(slope_of_states(part, dy.narrow(0, begin, part.numel()))
                    .equal(dx.narrow(0, begin, part.numel())));
  }
}

TEST(SoftplusOfStates, ExtremesStayWhereTheyBelong) {
  const float infinity = HUGE_VALF;
  const at::Tensor x = at::tensor({infinity, -infinity, std::nanf(""), 3e38F}, at::kFloat);
  const at::Tensor y = softplus_of_states(x);
  const at::Tensor dx = slope_of_states(x, at::ones_like(x));

  EXPECT_EQ(y[0].item<float>(), infinity);
  EXPECT_NEAR(y[1].item<float>(), 0, 1e-37);
  EXPECT_TRUE(std::isnan(y[2].item<float>()));
  EXPECT_EQ(y[3].item<float>(), 3e38F);
  EXPECT_EQ(dx[0].item<float>(), 1);
  EXPECT_NEAR(dx[1].item<float>(), 0, 1e-37);
  EXPECT_TRUE(std::isnan(dx[2].item<float>()));
}

}  // namespace softplus_test
}  // namespace depthgrid::testing
