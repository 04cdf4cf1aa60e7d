// Gradients of a flow in its state and in its signal, and of batches under several signals.
#include <cmath>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <torch/csrc/autograd/autograd.h>

#include "core/depth/depth_pieces.hpp"
#include "tests/support/small_options.hpp"
#include "tests/support/toy_training.hpp"

namespace depthgrid::testing {
namespace signal_gradient_test {

constexpr std::int64_t kRows = 2, kTokens = 6, kAxes = 3;

at::Tensor random(at::IntArrayRef sizes, std::uint64_t seed) {
  return at::randn(sizes, at::make_generator<at::CPUGeneratorImpl>(seed), at::kDouble);
}

ModelOptions options(Injection injection, GradientPlan gradient = {}) {
  ModelOptions o = small_options("hybrid_ode", 1);
  with_control(o, kAxes);
  o.control.injection = injection;
  o.gradient = gradient;
  return o;
}

at::Tensor text(const ModelOptions& o) {
  return at::randint(0, o.vocabulary, {1, kRows, kTokens},
                     at::make_generator<at::CPUGeneratorImpl>(5), at::kLong);
}

/// Largest deviation of autograd from central differences along random directions, relative.
double off_by(const std::function<at::Tensor(const at::Tensor&)>& loss, const at::Tensor& at) {
  const at::Tensor x = at.clone().requires_grad_(true);
  const at::Tensor gradient = torch::autograd::grad({loss(x)}, {x})[0];
  const at::NoGradGuard no_grad;
  double worst = 0;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const at::Tensor along = random(at.sizes(), seed);
    const auto moved = [&](double by) { return loss(at + by * along).item<double>(); };
    constexpr double kStep = 1e-4;
    const double n =
        (8 * (moved(kStep) - moved(-kStep)) - moved(2 * kStep) + moved(-2 * kStep)) / (12 * kStep);
    const double a = (gradient * along).sum().item<double>();
    worst = std::max(worst, std::abs(a - n) / std::max(std::abs(a), std::abs(n)));
  }
  return worst;
}

TEST(SignalGradient, IsThatOfDifferencesInEveryInjection) {
  for (const Injection injection : {Injection::Additive, Injection::Film, Injection::Concat}) {
    const Built built = built_and_moved(options(injection), at::kDouble);
    const at::Tensor tokens = text(built.options), weight = random({built.options.width}, 9);
    const auto loss = [&](const at::Tensor& u) {
      return (built.model->states(tokens, {.control = {u}}) * weight).square().sum();
    };
    EXPECT_LT(off_by(loss, random({1, kRows, 1, kAxes}, 7)), 1e-6);
  }
}

TEST(StateGradient, OfAFlowIsThatOfDifferences) {
  const Built built = built_and_moved(options(Injection::Additive), at::kDouble);
  const ForwardContext context;
  const std::vector<DepthSegment> depth = built.model->segments(context);
  const at::Tensor weight = random({built.options.width}, 9);
  const Control u{random({1, kRows, 1, kAxes}, 7)};
  const auto loss = [&](const at::Tensor& x) {
    return (advance(depth, x, 0, built.options.depth_steps(), u) * weight).square().sum();
  };
  EXPECT_LT(off_by(loss, random({1, kRows, kTokens, built.options.width}, 8)), 1e-6);
}

/// One batch whose rows have signals of their own, and one after the other.
TEST(SignalGradient, OfABatchUnderTwoSignalsIsTheSumOfBoth) {
  for (const GradientPlan plan : {GradientPlan{}, {GradientMode::Checkpoint, 1}}) {
    const Built built = built_and_moved(options(Injection::Additive, plan), at::kDouble);
    const at::Tensor tokens = text(built.options), weight = random({built.options.width}, 9);
    const at::Tensor up = random({1, kRows, 1, kAxes}, 7), down = -up;
    const auto backward = [&](const at::Tensor& rows, const at::Tensor& u) {
      const ForwardContext context{
          .training = true, .step = 1, .seeds = &built.seeds, .control = {u}};
      (built.model->states(rows, context) * weight).square().sum().backward();
    };
    built.arena->zero_gradients();
    backward(at::cat({tokens, tokens}, 1), at::cat({up, down}, 1));
    const at::Tensor together = built.arena->gradients().clone();
    built.arena->zero_gradients();
    backward(tokens, up);
    backward(tokens, down);
    const at::Tensor apart = built.arena->gradients();
    EXPECT_LT(((together - apart).norm() / apart.norm()).item<double>(), 1e-12);
  }
}

}  // namespace signal_gradient_test
}  // namespace depthgrid::testing
