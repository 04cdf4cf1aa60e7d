// Every family's training gradients, under each way to compute them.
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/zeros.h>

#include "models/gradient_check.hpp"
#include "models/probed_model.hpp"
#include "tests/support/block_watch.hpp"
#include "tests/support/model_cases.hpp"
#include "tests/support/toy_training.hpp"

namespace depthgrid::testing {
namespace gradient_mode_test {

constexpr std::int64_t kTokens = 9;

struct Pass {
  at::Tensor loss, gradients;
  std::vector<at::Tensor> parts;
};

/// A training pass of two cells, its gradients by `plan`.
Pass pass_of(ModelOptions o, const GradientPlan& plan, bool mixed = false) {
  at::set_num_threads(1);
  o.gradient = plan;
  Built built(o, seeds_of(o), mixed);
  CellLanguageModel model(*built.model, built.seeds);
  const at::Tensor windows = at::randint(0, o.vocabulary, {o.cells, 3, kTokens + 1},
                                         at::make_generator<at::CPUGeneratorImpl>(7), at::kLong);
  const Objective::Losses losses = model.losses({windows, 3});
  losses.total.backward(at::full({o.cells}, 1.0 / (3 * kTokens)));
  return {losses.total.detach(), built.arena->gradients().clone(), losses.parts};
}

double apart(const at::Tensor& a, const at::Tensor& b) {
  return ((a - b).norm() / b.norm()).item<double>();
}

class GradientModes : public ::testing::TestWithParam<ModelCase> {};

TEST_P(GradientModes, CheckpointsHaveThePlainBits) {
  ModelOptions o = small_options(GetParam().family, 2);
  GetParam().change(o);
  if (o.gradient.mode == GradientMode::Adjoint) GTEST_SKIP() << "an approximation of its own";
  for (const bool mixed : {false, true}) {
    const Pass plain = pass_of(o, {}, mixed);
    const Pass kept = pass_of(o, {GradientMode::Checkpoint, mixed ? 2 : 1}, mixed);
    EXPECT_TRUE(at::equal(kept.loss, plain.loss));
    // Two passes in one step: each sums by itself what it adds to a gradient.
    if (o.regularisers.has(Regulariser::ControlSmoothness)) {
      EXPECT_LT(apart(kept.gradients, plain.gradients), mixed ? 4e-3 : 1e-6);
    } else {
      EXPECT_TRUE(at::equal(kept.gradients, plain.gradients));
    }
    ASSERT_EQ(kept.parts.size(), plain.parts.size());
    for (std::size_t i = 0; i < plain.parts.size(); ++i) {
      EXPECT_TRUE(at::equal(kept.parts[i], plain.parts[i]));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(EveryOption, GradientModes, ::testing::ValuesIn(model_cases()),
                         [](const auto& p) { return p.param.name; });

ModelOptions flow_options(const char* method, std::int64_t steps) {
  ModelOptions o = small_options("hybrid_ode", 2);
  o.solver.method = &stepper(method);
  o.solver.steps = steps;
  return o;
}

TEST(GradientMode, UndoneStepsHaveTheGradientOfTheirMap) {
  for (const double dropout : {0.0, 0.2}) {
    ModelOptions o = flow_options("reversible_heun", 8);
    o.dropout_mlp.assign(2, dropout);
    o.dropout_attention.assign(2, dropout);
    const Pass plain = pass_of(o, {}), undone = pass_of(o, {GradientMode::Reversible});
    EXPECT_TRUE(at::equal(undone.loss, plain.loss));
    EXPECT_LT(apart(undone.gradients, plain.gradients), 1e-5);
  }
}

TEST(GradientMode, TheAdjointsErrorHalvesWithTheStep) {
  for (const double dropout : {0.0, 0.2}) {
    std::vector<double> errors;
    for (const std::int64_t steps : {4, 8, 16, 32}) {
      ModelOptions o = flow_options("euler", steps);
      o.flow.mask_per_solve = dropout > 0;  // masks that differ from step to step have no limit
      o.dropout_mlp.assign(2, dropout);
      const Pass plain = pass_of(o, {}), adjoint = pass_of(o, {GradientMode::Adjoint});
      EXPECT_TRUE(at::equal(adjoint.loss, plain.loss));
      errors.push_back(apart(adjoint.gradients, plain.gradients));
    }
    EXPECT_GT(errors[0], 1e-3);
    EXPECT_NEAR(errors[2] / errors[3], 2, 0.3) << "dropout " << dropout;
  }
}

/// Of the first cell, on a text; the number that is recorded beside the gradients.
double recorded(const ModelOptions& o, bool adjoint) {
  const Built built(o, seeds_of(o));
  const at::Tensor windows = at::randint(0, o.vocabulary, {o.cells, 3, kTokens + 1},
                                         at::make_generator<at::CPUGeneratorImpl>(7), at::kLong);
  const at::Tensor tokens = windows.narrow(2, 0, kTokens);
  const at::Tensor found =
      adjoint ? adjoint_error(*built.model, *built.arena, tokens, windows.narrow(2, 1, kTokens))
              : reversible_defect(*built.model, tokens);
  return found[0].item<double>();
}

TEST(GradientMode, WhatIsRecordedFallsWithTheStep) {
  for (const char* family : {"hybrid_ode", "time_indexed", "tong"}) {
    ModelOptions o = small_options(family, 2);
    o.time.nodes.assign(2, Nodes::Left);
    o.residual.scale.assign(2, 1.0 / 3);
    o.modulation.activation = Activation::Silu;
    o.time.frequencies = 1;
    const auto at_steps = [&](const char* method, std::int64_t steps, bool adjoint) {
      o.solver = {&stepper(method), steps};
      o.gradient.mode = adjoint ? GradientMode::Adjoint : GradientMode::Reversible;
      return recorded(o, adjoint);
    };
    EXPECT_GT(at_steps("euler", 4, true), 1e-3) << family;
    EXPECT_NEAR(at_steps("euler", 32, true) / at_steps("euler", 64, true), 2, 0.3) << family;
    EXPECT_GT(at_steps("reversible_heun", 4, false), 0) << family;
    EXPECT_GT(at_steps("reversible_heun", 8, false), at_steps("reversible_heun", 32, false));
  }
  EXPECT_TRUE(std::isnan(recorded(small_options("standard", 2), false)));
  const ModelOptions o = flow_options("reversible_heun", 8);
  const Built built(o, seeds_of(o));
  const at::Tensor tokens = at::zeros({2, 3, kTokens}, at::kLong);
  EXPECT_LT(reversible_error(*built.model, tokens).max().item<double>(), 1e-5);
}

/// A depth that is one flow of m steps.
ModelOptions whole_flow(const char* method, std::int64_t steps) {
  ModelOptions o = small_options("hybrid_ode", 1);
  o.width = 32;
  o.flow.first = 0;
  o.flow.last = o.layers;
  o.flow.hidden = 128;
  o.vocabulary = 11;
  o.max_tokens = 32;
  o.solver = {&stepper(method), steps};
  return o;
}

/// Bytes held at once by a training pass.
std::int64_t peak(const GradientPlan& plan, const char* method, std::int64_t steps) {
  ModelOptions o = whole_flow(method, steps);
  o.gradient = plan;
  const Built built(o, seeds_of(o));
  CellLanguageModel model(*built.model, built.seeds);
  const at::Tensor windows = at::randint(0, o.vocabulary, {1, 8, 33}, at::kLong);
  return blocks_of([&] { model.losses({windows, 1}).total.sum().backward(); }).most;
}

/// Bytes that the probe of gradients holds at once, of the same model and text.
std::int64_t probed_peak(const GradientPlan& plan, std::int64_t steps) {
  ModelOptions o = whole_flow("euler", steps);
  o.gradient = plan;
  const Built built(o, seeds_of(o));
  const ProbeSet set{at::randint(0, o.vocabulary, {8, 33}, at::kLong), {}};
  const ProbedModel probed(*built.model, set, &*built.arena);
  return blocks_of([&] {
           probed.state_gradients(0, 8);
           probed.gradient_mode_errors(0, 8);
         })
      .most;
}

double growth(const GradientPlan& plan, const char* method = "euler") {
  return static_cast<double>(peak(plan, method, 64)) / static_cast<double>(peak(plan, method, 4));
}

TEST(GradientMode, MemoryGrowsWithTheStepsOnlyWherePlain) {
  using enum GradientMode;
  EXPECT_GE(growth({Plain}), 8);
  EXPECT_LE(growth({Checkpoint, 1}), 1.05);
  EXPECT_LE(growth({Checkpoint, 4}), 1.10);
  EXPECT_LE(growth({Checkpoint, 4}, "rk4"), 1.10);
  EXPECT_LE(static_cast<double>(peak({Checkpoint, 6}, "euler", 64)) /
                static_cast<double>(peak({Checkpoint, 2}, "euler", 4)),
            1.25);
  EXPECT_LE(growth({Reversible}, "reversible_heun"), 1.05);
  EXPECT_LE(growth({Adjoint}), 1.05);
}

TEST(GradientMode, TheProbeHoldsOneSequencesGraph) {
  using enum GradientMode;
  const auto plain = static_cast<double>(probed_peak({Plain}, 64));
  EXPECT_LE(static_cast<double>(probed_peak({Checkpoint, 4}, 64)) / plain, 0.3);
  EXPECT_LE(static_cast<double>(probed_peak({Adjoint}, 64)) / plain, 0.3);
}

TEST(GradientMode, NothingIsLeftBehind) {
  for (const GradientPlan& plan :
       {GradientPlan{GradientMode::Checkpoint, 2}, GradientPlan{GradientMode::Adjoint}}) {
    ModelOptions o = flow_options("euler", 5);
    o.gradient = plan;
    const Built built(o, seeds_of(o));
    CellLanguageModel model(*built.model, built.seeds);
    const at::Tensor windows = at::randint(0, o.vocabulary, {2, 3, kTokens + 1}, at::kLong);
    const auto passes = [&](int n) {
      for (int i = 0; i < n; ++i) model.losses({windows, i + 1}).total.sum().backward();
    };
    passes(1);  // gradients and caches come to be
    EXPECT_EQ(blocks_of([&] { passes(50); }).held, 0);
  }
}

}  // namespace gradient_mode_test
}  // namespace depthgrid::testing
