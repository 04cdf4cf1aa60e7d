// Norms that regularisers name, against matrices and differences.
#include "models/depth_norms.hpp"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/linalg_eigvalsh.h>
#include <ATen/ops/linalg_svd.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/autograd.h>

#include "core/depth/integrator.hpp"
#include "models/control_secant.hpp"
#include "tests/support/small_options.hpp"
#include "tests/support/toy_training.hpp"

namespace depthgrid::testing {
namespace depth_norms_test {

constexpr std::int64_t kCells = 2, kTokens = 6, kWidth = 5;

at::Tensor random(at::IntArrayRef sizes, std::uint64_t seed) {
  return at::randn(sizes, at::make_generator<at::CPUGeneratorImpl>(seed), at::kDouble);
}

class Matrix final : public VectorField {
 public:
  explicit Matrix(at::Tensor a) : a_(std::move(a)) {}
  FieldValue evaluate(const at::Tensor& x, const DepthPoint&, const Control&) const override {
    return {.dx = at::matmul(x, a_.unsqueeze(1))};
  }

 private:
  at::Tensor a_;
};

double off(const at::Tensor& a, const at::Tensor& b) {
  return ((a - b).abs() / b.abs()).max().item<double>();
}

TEST(DepthNorms, OfALinearFieldAreThoseOfItsMatrix) {
  const at::Tensor a = random({kCells, kWidth, kWidth}, 1) * 0.4;
  const at::Tensor x = random({kCells, 3, kTokens, kWidth}, 2);
  const JacobianNorms found =
      jacobian_norms(stepper("euler"), Matrix(a), flow_grid(kCells, 3, at::kDouble), x, {},
                     random({kCells, kTokens, kWidth}, 3));
  const at::Tensor symmetric = (a + a.transpose(-1, -2)) / 2;
  EXPECT_LT(off(found.spectral, std::get<1>(at::linalg_svd(a)).select(-1, 0)), 1e-9);
  EXPECT_LT(off(found.log, at::linalg_eigvalsh(symmetric).select(-1, kWidth - 1)), 1e-9);
  const auto alone = jacobian_norms(stepper("euler"), Matrix(a), flow_grid(kCells, 3, at::kDouble),
                                    x, {}, random({kCells, kTokens, kWidth}, 3),
                                    {.spectral = false, .log = true, .frobenius = false});
  EXPECT_TRUE(at::equal(alone.log, found.log));
  EXPECT_FALSE(alone.spectral.defined() || alone.frobenius.defined());
  // 3 steps, 3 sequences and 16 draws of 30 numbers: about 2 % of standard error.
  EXPECT_LT(off(found.frobenius, a.square().sum({1, 2}) / kWidth), 0.1);
}

/// A small model in float64, and a text.
struct Small {
  Built built;
  at::Tensor tokens;

  explicit Small(const ModelOptions& o)
      : built(built_and_moved(o, at::kDouble)),
        tokens(at::randint(0, o.vocabulary, {o.cells, 2, kTokens},
                           at::make_generator<at::CPUGeneratorImpl>(5), at::kLong)) {}

  at::Tensor last(const at::Tensor& u) const {
    const at::NoGradGuard no_grad;
    return built.model->states(tokens, {.control = {u}});
  }
};

/// Of all layers where there is no flow: against the singular values of each layer's Jacobian.
TEST(DepthNorms, OfLayersAreThoseOfTheirJacobians) {
  const Small small(small_options("standard", kCells));
  const ForwardContext context{.composed = true};
  const std::vector<DepthSegment> depth = small.built.model->segments(context);
  ASSERT_EQ(depth.size(), 1U);
  const DepthGrid& grid = depth.front().grid;
  at::Tensor x = small.built.model->embed(small.tokens).detach();
  const std::int64_t size = x.size(2) * x.size(3);
  at::Tensor largest = at::zeros({kCells}, at::kDouble), growing = largest.clone();
  for (std::int64_t i = 0; i < grid.steps(); ++i) {
    const at::Tensor here = x.requires_grad_(true);
    const at::Tensor dx = depth.front().field->evaluate(here, grid.at(i), {}).dx;
    at::Tensor jacobian = at::zeros({kCells, 2, size, size}, at::kDouble);
    for (std::int64_t row = 0; row < size; ++row) {
      const at::Tensor one = at::zeros({kCells, 2, size}, at::kDouble);
      one.select(2, row).fill_(1);
      jacobian.select(2, row).copy_(
          torch::autograd::grad({dx}, {here}, {one.view(x.sizes())}, true)[0].flatten(2));
    }
    const at::Tensor h = grid.at(i).h.to(at::kDouble);
    largest += h * std::get<1>(at::linalg_svd(jacobian)).select(-1, 0).mean(1);
    const at::Tensor symmetric = (jacobian + jacobian.transpose(-1, -2)) / 2;
    growing += h * at::linalg_eigvalsh(symmetric).select(-1, size - 1).mean(1);
    x = (here + grid.at(i).h.view({-1, 1, 1, 1}) * dx).detach();
  }

  const JacobianNorms found = jacobian_norms(*small.built.model, small.tokens);

  EXPECT_LT(off(found.spectral, largest), 1e-6);
  EXPECT_LT(off(found.log, growing), 1e-6);
}

TEST(DepthNorms, TheSlopeInTheSignalIsThatOfDifferences) {
  ModelOptions o = small_options("hybrid_ode", kCells);
  with_control(o, 3);
  const Small small(o);
  constexpr double kStep = 1e-5;
  at::Tensor square = at::zeros({kCells, 2}, at::kDouble);
  for (std::int64_t axis = 0; axis < 3; ++axis) {
    at::Tensor u = at::zeros({kCells, 2, 1, 3}, at::kDouble);
    u.select(3, axis).fill_(kStep);
    square += ((small.last(u) - small.last(-u)) / (2 * kStep)).square().sum({2, 3});
  }
  const auto size = static_cast<double>(kTokens * o.width);
  EXPECT_LT(off(control_slope(*small.built.model, small.tokens), (square / size).sqrt().mean(1)),
            1e-6);

  {
    const at::NoGradGuard no_grad;
    small.built.parameter("flow.control.weight").zero_();
  }
  EXPECT_EQ(control_slope(*small.built.model, small.tokens).abs().max().item<double>(), 0);
}

/// Over draws, the secant has the slope as its root mean square; of a map with a bias too.
TEST(DepthNorms, TheSecantsOfTheRegulariserHaveThisSlope) {
  for (const bool bias : {false, true}) {
    ModelOptions o = small_options("hybrid_ode", 1);
    with_control(o, 3);
    o.control.bias = bias;
    with_regularisers(o, {Regulariser::ControlSmoothness});
    o.regularisers.band_low = o.regularisers.band_high = {0};
    o.regularisers.delta = {1e-4};
    const Small small(o);
    const at::NoGradGuard no_grad;
    double mean = 0;
    constexpr int kDraws = 400;
    for (int step = 1; step <= kDraws; ++step) {
      const ForwardContext context{.training = true, .step = step, .seeds = &small.built.seeds};
      const at::Tensor states = small.built.model->states(small.tokens, context);
      mean += control_secant(*small.built.model, small.tokens, context, states).item<double>();
    }
    const double secant = std::sqrt(mean / (kDraws * 2.0 * kTokens));
    const double slope = control_slope(*small.built.model, small.tokens).item<double>();
    EXPECT_NEAR(secant / slope, 1, 0.15) << (bias ? "with a bias" : "without a bias");
  }
}

}  // namespace depth_norms_test
}  // namespace depthgrid::testing
