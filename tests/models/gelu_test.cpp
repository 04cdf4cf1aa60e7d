#include "models/ops/gelu.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include <ATen/TensorIndexing.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>
#include <ATen/ops/linspace.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/autograd.h>

namespace depthgrid {
namespace {

at::Tensor gradient_of(const at::Tensor& input, const at::Tensor& dy) {
  const at::Tensor x = input.detach().clone().requires_grad_();
  torch::autograd::backward({gelu_tanh(x)}, {dy});
  return x.grad();
}

double largest(const at::Tensor& x) {
  return x.abs().max().item<double>();
}

TEST(Gelu, AgreesWithTheFormulaInDoubleOverTheWholeRange) {
  const at::Tensor wide = at::linspace(-12, 12, 100'001, at::kDouble);
  const at::Tensor y = gelu_tanh(wide);

  const at::Tensor error = gelu_tanh(wide.to(at::kFloat)).to(at::kDouble) -
                           gelu_tanh(wide.to(at::kFloat).to(at::kDouble));

  EXPECT_LT(largest(error / (y.abs() + 1e-3)), 1e-6);
}

TEST(Gelu, SlopeAgreesWithAutogradInDouble) {
  const at::Tensor narrow = at::linspace(-12, 12, 100'001, at::kFloat);
  const at::Tensor wide = narrow.to(at::kDouble);
  const at::Tensor dy = at::randn({100'001}, at::kFloat);

  const at::Tensor error =
      gradient_of(narrow, dy).to(at::kDouble) - gradient_of(wide, dy.to(at::kDouble));

  EXPECT_LT(largest(error / (dy.to(at::kDouble).abs() + 1e-3)), 2e-6);
}

TEST(Gelu, AnElementsBitsDoNotDependOnItsPlace) {
  const at::Tensor x = at::randn({1000}, at::kFloat) * 3;
  const at::Tensor dy = at::randn({1000}, at::kFloat);
  const at::Tensor y = gelu_tanh(x);
  const at::Tensor dx = gradient_of(x, dy);

  for (std::int64_t begin = 0; begin < 67; ++begin) {
    const at::Tensor part = x.narrow(0, begin, 1000 - 2 * begin);
    EXPECT_TRUE(gelu_tanh(part).equal(y.narrow(0, begin, part.numel())));
    EXPECT_TRUE(gradient_of(part, dy.narrow(0, begin, part.numel()))
                    .equal(dx.narrow(0, begin, part.numel())));
  }
}

TEST(Gelu, ExtremesStayWhereTheyBelong) {
  const float huge = 3e38F;
  const at::Tensor x = at::zeros({4}, at::kFloat);
  x[0] = huge;
  x[1] = -huge;
  x[2] = std::nanf("");
  const at::Tensor y = gelu_tanh(x);
  const at::Tensor dx = gradient_of(x, at::full({4}, 1.0F));

  EXPECT_EQ(y[0].item<float>(), huge);
  EXPECT_EQ(y[1].item<float>(), 0.0F);
  EXPECT_TRUE(std::isnan(y[2].item<float>()));
  EXPECT_EQ(y[3].item<float>(), 0.0F);
  EXPECT_EQ(dx[0].item<float>(), 1.0F);
  EXPECT_EQ(dx[1].item<float>(), 0.0F);
  EXPECT_TRUE(std::isnan(dx[2].item<float>()));
  EXPECT_EQ(dx[3].item<float>(), 0.5F);
}

TEST(Gelu, InBfloat16IsTheFloatResultRoundedOnce) {
  const at::Tensor x = at::randn({777}, at::kFloat).to(at::kBFloat16);
  const at::Tensor dy = at::randn({777}, at::kFloat).to(at::kBFloat16);

  EXPECT_TRUE(gelu_tanh(x).equal(gelu_tanh(x.to(at::kFloat)).to(at::kBFloat16)));
  EXPECT_TRUE(
      gradient_of(x, dy).equal(gradient_of(x.to(at::kFloat), dy.to(at::kFloat)).to(at::kBFloat16)));
}

}  // namespace
}  // namespace depthgrid
