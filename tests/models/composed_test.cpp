#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn_like.h>

#include "core/base/error.hpp"
#include "core/probe/lyapunov/tangent_map.hpp"
#include "tests/support/model_cases.hpp"
#include "tests/support/toy_training.hpp"

namespace depthgrid::testing {
namespace composed_test {

double distance(const at::Tensor& a, const at::Tensor& b) {
  return ((a - b).norm() / b.norm()).item<double>();
}

/// A model's depth, H_0 to H_L, with or without kernels; every layer is executed for all tokens.
class Depth {
 public:
  Depth(const ModelCase& one, at::ScalarType type) {
    ModelOptions o = small_options(one.family, 2);
    one.change(o);
    built_ = std::make_unique<Built>(built_and_moved(o, type));
    tokens_ = at::randint(0, o.vocabulary, {2, 3, 9}, at::kLong);
  }

  at::Tensor start() const {
    const at::NoGradGuard no_grad;
    return built_->model->embed(tokens_).clone();
  }

  at::Tensor run(const at::Tensor& x0, bool composed) const {
    const ForwardContext context{.composed = composed,
                                 .execution = Execution{ExecutionMode::Dense, {}, {}, {}}};
    at::Tensor x = x0;
    for (const DepthSegment& segment : built_->model->family().segments(context)) {
      x = segment.method->solve(*segment.field, segment.grid, x, {});
    }
    return x;
  }

  StateMap map(bool composed) const {
    return [this, composed](const at::Tensor& x) { return run(x, composed); };
  }

  /// Gradients of a weighted sum of H_L, of H_0 and of all parameters.
  std::pair<at::Tensor, at::Tensor> gradients(const at::Tensor& x0, const at::Tensor& weight,
                                              bool composed) const {
    const at::AutoGradMode graph(true);
    built_->arena->gradients().zero_();
    const at::Tensor x = x0.detach().clone().requires_grad_(true);
    (run(x, composed) * weight).sum().backward();
    return {x.grad().clone(), built_->arena->gradients().clone()};
  }

  at::Tensor parameter_gradients() const { return built_->arena->gradients(); }

 private:
  std::unique_ptr<Built> built_;
  at::Tensor tokens_;
};

class Composed : public ::testing::TestWithParam<ModelCase> {};

TEST_P(Composed, StatesAndGradientsAreThoseOfTheKernels) {
  const Depth depth(GetParam(), at::kFloat);
  const at::Tensor x = depth.start();
  const at::Tensor weight = at::randn_like(x);

  EXPECT_LT(distance(depth.run(x, true), depth.run(x, false)), 1e-5);
  const auto composed = depth.gradients(x, weight, true);
  const auto kernels = depth.gradients(x, weight, false);
  EXPECT_LT(distance(composed.first, kernels.first), 1e-5);
  EXPECT_LT(distance(composed.second, kernels.second), 1e-5);
}

TEST_P(Composed, ADerivativeAlongADirectionIsTheCentralDifference) {
  const Depth depth(GetParam(), at::kDouble);
  const at::Tensor x = depth.start(), v = at::randn_like(x), w = at::randn_like(x);
  depth.parameter_gradients().zero_();

  const TangentMap map(depth.map(true), x);
  const at::Tensor forward = map.forward(v);

  const at::NoGradGuard no_grad;
  const double h = 1e-6;
  const at::Tensor slope = (depth.run(x + v * h, true) - depth.run(x - v * h, true)) / (2 * h);
  EXPECT_LT(distance(forward, slope), 1e-7);
  // Both products are of one matrix.
  const double there = (forward * w).sum().item<double>();
  EXPECT_NEAR((map.transposed(w) * v).sum().item<double>(), there, 1e-9 * (1 + std::abs(there)));
  EXPECT_EQ(depth.parameter_gradients().abs().max().item<double>(), 0);
}

/// The result of a kernel never counts as a constant.
TEST_P(Composed, KernelsRefuseToBeDifferentiatedTwice) {
  const Depth depth(GetParam(), at::kFloat);
  try {
    const TangentMap map(depth.map(false), depth.start());
    FAIL() << "the derivative would lack a part";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("ForwardContext::composed"), std::string::npos)
        << e.what();
  }
}

INSTANTIATE_TEST_SUITE_P(EveryOption, Composed, ::testing::ValuesIn(model_cases()),
                         [](const auto& p) { return p.param.name; });

}  // namespace composed_test
}  // namespace depthgrid::testing
