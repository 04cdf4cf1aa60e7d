// Exponents of the depth of transformers, against the dense Jacobian.
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/linalg_slogdet.h>
#include <ATen/ops/linalg_svdvals.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/triu.h>

#include "core/probe/lyapunov/depth_spectrum.hpp"
#include "core/probe/lyapunov/finite_time.hpp"
#include "core/probe/lyapunov/lyapunov_probe.hpp"
#include "models/ops/cell_cross_entropy.hpp"
#include "models/probed_model.hpp"
#include "tests/core/probe/lyapunov/toy_maps.hpp"
#include "tests/core/probe/recorded_rows.hpp"
#include "tests/support/model_depth.hpp"
#include "tests/support/verdict.hpp"

namespace depthgrid::testing {
namespace depth_exponents_test {

constexpr std::int64_t kTokens = 4;

class DepthExponents : public ::testing::TestWithParam<const char*> {
 protected:
  const ModelDepth depth_{{"", GetParam(), [](ModelOptions&) {}}, at::kDouble, 1, 1, kTokens};
  const at::Tensor start_ = depth_.start();
  const at::Tensor jacobian_ = dense_jacobian(depth_.map(true), start_);

  static std::string name() { return GetParam(); }
};

/// Some steps of gradient descent on one batch. @return the loss per token before and after.
std::pair<double, double> train(const ModelDepth& depth, int steps) {
  const Model& model = *depth.built().model;
  Arena& arena = *depth.built().arena;
  const at::Tensor text =
      at::randint(0, model.options().vocabulary, {1, 4, kTokens + 1}, at::kLong);
  const at::Tensor inputs = text.narrow(2, 0, kTokens), targets = text.narrow(2, 1, kTokens);
  std::vector<double> losses;
  for (int i = 0; i < steps; ++i) {
    const at::AutoGradMode graph(true);
    arena.gradients().zero_();
    const at::Tensor last = depth.run(model.embed(inputs), true);
    const at::Tensor loss =
        cell_cross_entropy(model.readout(last), targets).sum() / targets.numel();
    loss.backward();
    const at::NoGradGuard no_grad;
    arena.values().sub_(arena.gradients() * 0.3);
    losses.push_back(loss.item<double>());
  }
  return {losses.front(), losses.back()};
}

/// Largest distance between the logarithms of all stretches of a depth and those of the singular
/// values of its dense Jacobian in float64.
double distance_from_dense(const ModelDepth& depth, const ModelDepth& wide) {
  const at::Tensor start = depth.start(), exact_start = start.to(at::kDouble);
  const at::Tensor exact = at::linalg_svdvals(dense_jacobian(wide.map(true), exact_start)).log();
  const Stretches found =
      largest_stretches(TangentMap(depth.map(true), start), {.exponents = exact.size(0)});
  EXPECT_EQ(found.all.size(2), exact.size(0));
  return (found.all[0][0] - exact).abs().max().item<double>();
}

TEST_P(DepthExponents, IterationsFindTheStretchesOfTheDenseJacobian) {
  const at::Tensor exact = at::linalg_svdvals(jacobian_).log();
  const Stretches found =
      largest_stretches(TangentMap(depth_.map(true), start_),
                        {.exponents = 4, .oversampling = 40, .iterations = 8, .tolerance = 1e-12});
  verdict(
      27,
      name() + ": four stretches by 44 of 80 directions, 8 iterations: distance from dense ones",
      (found.log_stretch[0][0] - exact.narrow(0, 0, 4)).abs().max().item<double>(), at_most(1e-5));
}

TEST_P(DepthExponents, AllStretchesOfATrainedDepthAreThoseOfTheDenseJacobian) {
  const ModelCase one{"", GetParam(), [](ModelOptions&) {}};
  const ModelDepth wide(one, at::kDouble, 1, 1, kTokens), narrow(one, at::kFloat, 1, 1, kTokens);
  const auto [before, after] = train(wide, 40);
  EXPECT_LT(after, 0.8 * before) << "nothing was trained";
  verdict(27, name() + ", trained: all 80 stretches, distance from dense singular values",
          distance_from_dense(wide, wide), at_most(1e-6));
  const at::NoGradGuard no_grad;
  narrow.built().arena->values().copy_(wide.built().arena->values());
  narrow.built().arena->refresh_shadow();
  wide.built().arena->values().copy_(narrow.built().arena->values());  // the same numbers
  // Products in float32 are right to about 1e-7 of the largest stretch: the smallest ones show it.
  verdict(27, name() + ", trained, products in float32: the same",
          distance_from_dense(narrow, wide), at_most(1e-3));
}

TEST_P(DepthExponents, InFloat64TheProbeHasTheExponentsOfTheDenseJacobian) {
  const ModelCase one{"", GetParam(), [](ModelOptions&) {}};
  const ModelDepth wide(one, at::kDouble, 1, 1, kTokens), narrow(one, at::kFloat, 1, 1, kTokens);
  const Built &own = narrow.built(), &copied = wide.built();
  const at::NoGradGuard no_grad;
  copied.arena->values().copy_(own.arena->values());
  const ProbedModel subject(
      *own.model,
      {.windows = at::randint(0, own.options.vocabulary, {1, kTokens + 1}, at::kLong),
       .classes = {}},
      own.arena.get());
  const auto exponents = [&](bool in_float64) {
    LyapunovOptions o;
    o.sequences = 1;
    o.wide = in_float64;
    LyapunovProbe probe(subject, o);
    RecordedRows out;
    probe.declare(out);
    probe.measure(0, out);
    return out.row("lyapunov_exponent");
  };
  const at::Tensor start =
      copied.model->embed(subject.set().windows.narrow(1, 0, kTokens).unsqueeze(0));
  const at::Tensor exact = at::linalg_svdvals(dense_jacobian(wide.map(true), start)).log();
  const std::vector<double> f64 = exponents(true), f32 = exponents(false);
  double error = 0, apart = 0;
  for (std::size_t i = 0; i < f64.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    error = std::max(error, std::abs(f64[i] - exact[at].item<double>()));
    apart = std::max(apart, std::abs(f64[i] - f32[i]));
  }
  EXPECT_LT(error, 1e-9);
  EXPECT_LT(apart, 1e-4);
  EXPECT_GT(apart, 0) << "both have computed in the same precision";
}

TEST_P(DepthExponents, AFullFrameSumsToTheDeterminant) {
  const std::int64_t n = jacobian_.size(0);
  at::Tensor frame = at::eye(n, at::kDouble).view({1, 1, n, n}), x = start_;
  double sum = 0;
  for (std::int64_t l = 0; l < depth_.built().options.depth_steps(); ++l) {
    const TangentMap step(depth_.map(true, l), x);
    sum += advance_frame(step, frame).sum().item<double>();
    x = step.value();
  }
  const double exact = std::get<1>(at::linalg_slogdet(jacobian_)).item<double>();
  verdict(27, name() + ": distance of a full frame's sum from ln abs det", std::abs(sum - exact),
          at_most(1e-8));
}

TEST_P(DepthExponents, NoTokenMovesThoseBeforeIt) {
  const std::int64_t width = jacobian_.size(0) / kTokens;
  const at::Tensor blocks = jacobian_.view({kTokens, width, kTokens, width}).abs().amax({1, 3});
  verdict(27, name() + ": largest entry above the causal blocks",
          at::triu(blocks, 1).abs().max().item<double>(), exactly(0));
  EXPECT_GT(blocks.diagonal(-1).min().item<double>(), 0);
}

TEST_P(DepthExponents, APerturbationAlongTheFirstDirectionGrowsAsMuch) {
  const Stretches found = largest_stretches(TangentMap(depth_.map(true), start_),
                                            {.exponents = 1, .oversampling = jacobian_.size(0)});
  const at::NoGradGuard no_grad;
  const at::Tensor small = found.directions[0][0][0].view(start_.sizes()) * 1e-6;
  const at::Tensor moved = depth_.run(start_ + small, true) - depth_.run(start_, true);
  const double growth = (moved.norm() / small.norm()).log().item<double>();
  EXPECT_NEAR(growth, found.log_stretch[0][0][0].item<double>(), 1e-4);
}

INSTANTIATE_TEST_SUITE_P(Families, DepthExponents,
                         ::testing::Values("standard", "tong", "time_indexed", "hybrid_ode", "tdt",
                                           "mod"),
                         [](const auto& p) { return std::string(p.param); });

}  // namespace depth_exponents_test
}  // namespace depthgrid::testing
