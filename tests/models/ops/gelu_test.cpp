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
namespace gelu_test {

at::Tensor gradient_of(GeluForm form, const at::Tensor& input, const at::Tensor& dy) {
  const at::Tensor x = input.detach().clone().requires_grad_();
  torch::autograd::backward({gelu(form, x)}, {dy});
  return x.grad();
}

class Gelu : public testing::TestWithParam<GeluForm> {};

double largest(const at::Tensor& x) {
  return x.abs().max().item<double>();
}

TEST_P(Gelu, AgreesWithTheFormulaInDoubleOverTheWholeRange) {
  const at::Tensor wide = at::linspace(-12, 12, 100'001, at::kDouble);
  const at::Tensor y = gelu(GetParam(), wide);

  const at::Tensor error = gelu(GetParam(), wide.to(at::kFloat)).to(at::kDouble) -
                           gelu(GetParam(), wide.to(at::kFloat).to(at::kDouble));

  EXPECT_LT(largest(error / (y.abs() + 1e-3)), 1e-6);
}

TEST_P(Gelu, SlopeAgreesWithAutogradInDouble) {
  const at::Tensor narrow = at::linspace(-12, 12, 100'001, at::kFloat);
  const at::Tensor wide = narrow.to(at::kDouble);
  const at::Tensor dy = at::randn({100'001}, at::kFloat);

  const at::Tensor error = gradient_of(GetParam(), narrow, dy).to(at::kDouble) -
                           gradient_of(GetParam(), wide, dy.to(at::kDouble));

  EXPECT_LT(largest(error / (dy.to(at::kDouble).abs() + 1e-3)), 1e-6);
}

TEST_P(Gelu, AnElementsBitsDoNotDependOnItsPlace) {
  const at::Tensor x = at::randn({1000}, at::kFloat) * 3;
  const at::Tensor dy = at::randn({1000}, at::kFloat);
  const at::Tensor y = gelu(GetParam(), x);
  const at::Tensor dx = gradient_of(GetParam(), x, dy);

  for (std::int64_t begin = 0; begin < 67; ++begin) {
    const at::Tensor part = x.narrow(0, begin, 1000 - 2 * begin);
    EXPECT_TRUE(gelu(GetParam(), part).equal(y.narrow(0, begin, part.numel())));
    EXPECT_TRUE(gradient_of(GetParam(), part, dy.narrow(0, begin, part.numel()))
                    .equal(dx.narrow(0, begin, part.numel())));
  }
}

TEST_P(Gelu, ExtremesStayWhereTheyBelong) {
  const float huge = 3e38F;
  const at::Tensor x = at::zeros({4}, at::kFloat);
  x[0] = huge;
  x[1] = -huge;
  x[2] = std::nanf("");
  const at::Tensor y = gelu(GetParam(), x);
  const at::Tensor dx = gradient_of(GetParam(), x, at::full({4}, 1.0F));

  EXPECT_EQ(y[0].item<float>(), huge);
  EXPECT_EQ(y[1].item<float>(), 0.0F);
  EXPECT_TRUE(std::isnan(y[2].item<float>()));
  EXPECT_EQ(y[3].item<float>(), 0.0F);
  EXPECT_EQ(dx[0].item<float>(), 1.0F);
  EXPECT_EQ(dx[1].item<float>(), 0.0F);
  EXPECT_TRUE(std::isnan(dx[2].item<float>()));
  EXPECT_EQ(dx[3].item<float>(), 0.5F);
}

TEST_P(Gelu, InBfloat16IsTheFloatResultRoundedOnce) {
  const at::Tensor x = at::randn({777}, at::kFloat).to(at::kBFloat16);
  const at::Tensor dy = at::randn({777}, at::kFloat).to(at::kBFloat16);

  EXPECT_TRUE(gelu(GetParam(), x).equal(gelu(GetParam(), x.to(at::kFloat)).to(at::kBFloat16)));
  EXPECT_TRUE(
      gradient_of(GetParam(), x, dy)
          .equal(gradient_of(GetParam(), x.to(at::kFloat), dy.to(at::kFloat)).to(at::kBFloat16)));
}

INSTANTIATE_TEST_SUITE_P(Forms, Gelu, testing::Values(GeluForm::Erf, GeluForm::Tanh));

}  // namespace gelu_test
}  // namespace depthgrid
