// The family hybrid_ode: what its flow must equal, how fast its methods converge, and its control
// signal.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>

#include "core/base/error.hpp"
#include "core/depth/observer.hpp"
#include "models/blocks/flow.hpp"
#include "tests/support/gradient_check.hpp"
#include "tests/support/model_cases.hpp"
#include "tests/support/toy_training.hpp"

namespace depthgrid::testing {
namespace hybrid_ode_test {

at::Tensor some_tokens(const ModelOptions& o) {
  return at::randint(0, o.vocabulary, {o.cells, 2, 7}, at::kLong);
}

TEST(HybridOde, WithoutItsFieldIsTheTransformerOfTheLayersThatStay) {
  for (const FieldKind kind : {FieldKind::AttentionMlp, FieldKind::Mlp}) {
    ModelOptions o = small_options("hybrid_ode", 2);
    o.init.residual_scaling.assign(2, false);  // out and down start by 1/sqrt(2L)
    if (kind == FieldKind::Mlp) with_mlp_field(o);
    o.flow.first = 2;
    o.flow.last = 3;
    o.flow.alpha = {0, 0};
    const Built hybrid(o, {3, 4});
    ModelOptions plain = small_options("standard", 2);
    plain.init.residual_scaling.assign(2, false);
    plain.layers = 2;
    const Built rest(plain, {3, 4});  // layers of one name start alike
    const at::Tensor tokens = some_tokens(o);

    EXPECT_TRUE(at::equal(hybrid.model->logits(tokens, {}), rest.model->logits(tokens, {})));
  }
}

TEST(HybridOde, GatesOfOneHalfAreTheFieldWithHalvedMatrices) {
  ModelOptions o = small_options("hybrid_ode", 2);
  o.flow.time_embedding = false;
  const Built halved(o, {3, 4});
  o.flow.field = FieldKind::TimeIndexed;
  const Built gated(o, {3, 4});
  const at::NoGradGuard no_grad;
  for (const ParameterSlot& slot : gated.arena->layout().slots()) {
    const std::string& name = slot.spec.name;
    if (name.starts_with("flow.modulation.")) slot_view(gated.arena->values(), slot).zero_();
    if (name.starts_with("flow.block.") && name.ends_with(".weight")) {
      halved.parameter(name).mul_(0.5);
    }
  }
  const at::Tensor tokens = some_tokens(o);

  EXPECT_TRUE(
      at::allclose(gated.model->logits(tokens, {}), halved.model->logits(tokens, {}), 1e-5, 1e-6));
}

TEST(HybridOde, ATiedBlockIsATransformerThatRepeatsIt) {
  ModelOptions o = small_options("hybrid_ode", 2);
  o.flow.field = FieldKind::Block;
  o.flow.first = 0;
  o.flow.last = 3;
  Built tied(o, {3, 4});
  ModelOptions plain = small_options("standard", 2);
  plain.share = Share::All;
  Built shared(plain, {3, 4});
  {
    const at::NoGradGuard no_grad;
    for (const ParameterSlot& slot : shared.arena->layout().slots()) {
      std::string name = slot.spec.name;
      if (name.starts_with("block.")) name = "flow." + name;
      slot_view(shared.arena->values(), slot)
          .copy_(slot_view(tied.arena->values(), tied.arena->layout().find(name)));
    }
  }
  const at::Tensor tokens = some_tokens(o);

  EXPECT_TRUE(at::equal(tied.model->logits(tokens, {}), shared.model->logits(tokens, {})));
}

/// dH/dτ = α W2 W1' ... with ReLU kept open is linear: H(1) has a closed form.
TEST(HybridOde, OfALinearFieldIsItsExponential) {
  ModelOptions o = small_options("hybrid_ode");
  with_mlp_field(o);
  o.control = {};
  o.flow.activation = Activation::Relu;
  o.flow.hidden = o.width;
  o.flow.alpha = {0.5};
  o.layers = 1;
  o.flow.first = 0;
  o.flow.last = 1;
  o.solver.method = &stepper("rk4");
  o.solver.steps = 64;
  const Built exact(o, seeds_of(o), false, at::kDouble);
  const at::NoGradGuard no_grad;
  // f(x) = α (relu(x + 100) − 100) = α x for |x| < 100: H(1) = exp(α) H(0).
  exact.parameter("flow.mlp.up.weight").zero_().diagonal(0, 1, 2).fill_(1);
  exact.parameter("flow.mlp.down.weight").zero_().diagonal(0, 1, 2).fill_(1);
  exact.parameter("flow.mlp.up.bias").fill_(100);
  exact.parameter("flow.mlp.down.bias").fill_(-100);
  const at::Tensor tokens = some_tokens(o);

  const at::Tensor end = exact.model->states(tokens, {});

  const at::Tensor start = exact.model->embed(tokens);
  EXPECT_LT(((end - start * std::exp(0.5)).abs().max() / start.abs().max()).item<double>(), 1e-8);
}

struct Method {
  const char* name;
  double order, tolerance;
};

class FlowOrder : public ::testing::TestWithParam<std::pair<Method, FieldKind>> {};

TEST_P(FlowOrder, HalvingTheStepShrinksTheErrorByTheMethodsOrder) {
  const auto& [method, kind] = GetParam();
  ModelOptions o = small_options("hybrid_ode");
  if (kind == FieldKind::Mlp) {
    with_mlp_field(o);
    o.flow.time_embedding = true;
  } else {
    o.flow.field = kind;
    o.modulation.activation = Activation::Silu;  // a kink in time has no order
    o.time.frequencies = 1;
  }
  o.flow.alpha = {1};
  o.init.std = {0.3};
  const at::Tensor tokens = some_tokens(o);
  const auto end = [&](std::string_view m, std::int64_t steps) {
    o.solver.method = &stepper(m);
    o.solver.steps = steps;
    const Built exact(o, seeds_of(o), false, at::kDouble);
    const at::NoGradGuard no_grad;
    return exact.model->states(tokens, {});
  };
  const at::Tensor reference = end("rk4", 512);  // powers of two: times are exact in float32

  // A method of the first order, and one whose first step is better than the others, shows its
  // order at short steps only.
  const bool late = method.order == 1 || std::string_view(method.name) == "ab2";
  const std::int64_t steps = late ? 64 : 16;

  const double coarse = (end(method.name, steps) - reference).norm().item<double>();
  const double fine = (end(method.name, 2 * steps) - reference).norm().item<double>();

  EXPECT_GT(fine, 0);
  EXPECT_NEAR(std::log2(coarse / fine), method.order, method.tolerance);
}

std::vector<std::pair<Method, FieldKind>> order_cases() {
  std::vector<std::pair<Method, FieldKind>> out;
  for (const FieldKind kind : {FieldKind::AttentionMlp, FieldKind::TimeIndexed, FieldKind::Mlp}) {
    for (const Method& m :
         {Method{"euler", 1, 0.1}, Method{"midpoint", 2, 0.15}, Method{"heun", 2, 0.15},
          Method{"rk4", 4, 0.25}, Method{"rk4_38", 4, 0.25}, Method{"ab2", 2, 0.15},
          Method{"reversible_heun", 2, 0.15}}) {
      out.emplace_back(m, kind);
    }
  }
  return out;
}

INSTANTIATE_TEST_SUITE_P(Methods, FlowOrder, ::testing::ValuesIn(order_cases()), [](const auto& p) {
  const FieldKind kind = p.param.second;
  return p.param.first.name + std::string(kind == FieldKind::Mlp           ? "_mlp"
                                          : kind == FieldKind::TimeIndexed ? "_time_indexed"
                                                                           : "_attention");
});

TEST(HybridOde, LossHasTheGradientOfFiniteDifferences) {
  for (const char* name : {"attention", "mlp"}) {
    ModelOptions o = small_options("hybrid_ode");
    if (std::string(name) == "mlp") with_mlp_field(o);
    with_control(o, 2);
    o.control.bias = true;
    o.solver.method = &stepper("midpoint");
    o.width = o.hidden = 8;
    o.flow.hidden = 6;
    const Built exact(o, seeds_of(o), false, at::kDouble);
    const at::Tensor tokens = some_tokens(o);
    const Control u{at::randn({1, 2, 1, 2}, at::kDouble)};
    const at::Tensor weight = at::randn({1, 2, 7, o.vocabulary}, at::kDouble);
    const auto value = [&] { return (exact.model->logits(tokens, {.control = u}) * weight).sum(); };
    value().backward();
    const at::NoGradGuard no_grad;
    for (const ParameterSlot& slot : exact.arena->layout().slots()) {
      if (!slot.spec.name.starts_with("flow.")) continue;
      const at::Tensor p = slot_view(exact.arena->values(), slot);
      const at::Tensor direction = at::randn(p.sizes(), at::kDouble);
      const double along =
          (slot_view(exact.arena->gradients(), slot) * direction).sum().item<double>();
      const double step = 1e-5;
      p.add_(direction, step);
      const double up = value().item<double>();
      p.sub_(direction, 2 * step);
      const double down = value().item<double>();
      p.add_(direction, step);
      EXPECT_NEAR((up - down) / (2 * step), along, 1e-6 * std::max(1.0, std::abs(along)))
          << name << " " << slot.spec.name;
    }
  }
}

TEST(HybridOde, ASignalMovesItsOwnSequenceAndNoSignalIsNeutral) {
  for (const bool mlp : {false, true}) {
    ModelOptions o = small_options("hybrid_ode", 2);
    if (mlp) with_mlp_field(o);
    with_control(o, 3);
    const Built built(o, {3, 4});
    const at::Tensor tokens = some_tokens(o);
    const at::Tensor plain = built.model->logits(tokens, {});
    Control u{at::zeros({2, 2, 1, 3})};

    EXPECT_TRUE(at::equal(built.model->logits(tokens, {.control = u}), plain));
    u.u.select(0, 1).select(0, 0).fill_(2);  // second cell, first sequence
    const at::Tensor moved = built.model->logits(tokens, {.control = u});
    EXPECT_TRUE(at::equal(moved[0], plain[0]));
    EXPECT_TRUE(at::allclose(moved[1][1], plain[1][1], 1e-6, 1e-6));
    EXPECT_GT((moved[1][0] - plain[1][0]).abs().max().item<float>(), 1e-3);
    const Control wrong{at::zeros({2, 1, 1, 2})};
    EXPECT_THROW(built.model->logits(tokens, {.control = wrong}), ShapeError);
  }
}

TEST(HybridOde, ASignalOfOneTokenMovesItAndWhatFollows) {
  for (const bool mlp : {false, true}) {
    ModelOptions o = small_options("hybrid_ode", 2);
    if (mlp) with_mlp_field(o);
    with_control(o, 3);
    const Built built(o, {3, 4});
    const at::Tensor tokens = some_tokens(o);
    const at::Tensor plain = built.model->logits(tokens, {});
    const Control u{at::zeros({2, 2, 7, 3})};
    EXPECT_TRUE(at::equal(built.model->logits(tokens, {.control = u}), plain));

    u.u.select(0, 1).select(0, 0).select(0, 4).fill_(2);
    const at::Tensor moved = built.model->logits(tokens, {.control = u}) - plain;

    EXPECT_LT(moved[1][0].narrow(0, 0, 4).abs().max().item<float>(), 1e-6);
    for (std::int64_t t = 4; t < 7; ++t) {
      EXPECT_GT(moved[1][0][t].abs().max().item<float>(), t == 4 ? 1e-3 : 1e-6) << t;
    }
    EXPECT_LT(moved[1][1].abs().max().item<float>(), 1e-6);
    EXPECT_LT(moved[0].abs().max().item<float>(), 1e-6);
  }
}

TEST(HybridOde, AConstantSignalHasTheBitsOfOneShiftForAllTokens) {
  ModelOptions o = small_options("hybrid_ode", 2);
  with_control(o, 3);
  o.control.bias = true;
  ParameterLayout layout;
  Flow(layout, o);
  Arena arena(layout, {3, 4}, at::kFloat);
  const Flow flow(arena, o);
  const at::NoGradGuard no_grad;
  arena.values().add_(at::randn(arena.values().sizes()));
  const at::Tensor u = at::randn({2, 2, 3}), t = at::full({2}, 0.25);
  const auto parameter = [&](const char* name) {
    return slot_view(arena.values(), arena.layout().find(name));
  };
  const AffineMap map{parameter("flow.control.weight"), parameter("flow.control.bias")};

  const at::Tensor once = flow.shift(t, {}) + apply(map, u).unsqueeze(2);  // (E, B, 1, C)

  const at::Tensor wide = u.unsqueeze(2);
  EXPECT_TRUE(at::equal(flow.shift(t, {wide}), once));
  EXPECT_TRUE(at::equal(flow.shift(t, {wide.expand({2, 2, 7, 3})}), once));
  EXPECT_TRUE(at::allclose(flow.shift(t, {wide.expand({2, 2, 7, 3}).contiguous()}),
                           once.expand({2, 2, 7, o.width}), 1e-6, 1e-6));
  EXPECT_THROW(flow.shift(t, {u}), ShapeError);
}

TEST(HybridOde, ABiasMakesASignalOfZeroDifferFromNone) {
  ModelOptions o = small_options("hybrid_ode");
  with_control(o, 2);
  o.control.bias = true;
  const Built built(o, {3});
  const at::NoGradGuard no_grad;
  slot_view(built.arena->values(), built.arena->layout().find("flow.control.bias")).fill_(1);
  const at::Tensor tokens = some_tokens(o);
  const Control zero{at::zeros({1, 1, 1, 2})};

  EXPECT_FALSE(
      at::equal(built.model->logits(tokens, {.control = zero}), built.model->logits(tokens, {})));
}

class StepTimes final : public Observer {
 public:
  bool wants(std::int64_t) const override { return true; }
  void on_depth(const DepthEvent& e) override {
    indices.push_back(e.at.step);
    times.push_back(e.at.t[0].item<double>());
    lengths.push_back(e.at.h[0].item<double>());
  }
  std::vector<std::int64_t> indices;
  std::vector<double> times, lengths;
};

TEST(HybridOde, WalksLayersThenTheFlowInItsOwnTimeThenLayers) {
  ModelOptions o = small_options("hybrid_ode");
  o.layers = 6;
  o.flow.first = 2;
  o.flow.last = 4;
  o.solver.steps = 4;
  const Built built(o, {3});
  StepTimes seen;

  built.model->logits(some_tokens(o), {.watch = {&seen}});

  EXPECT_EQ(seen.indices, (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ((std::vector<double>(seen.times.begin() + 2, seen.times.begin() + 6)),
            (std::vector<double>{0, 0.25, 0.5, 0.75}));
  EXPECT_EQ(seen.lengths, (std::vector<double>{1, 1, 0.25, 0.25, 0.25, 0.25, 1, 1}));
  const DepthGrid grid = built.model->family().grid({});
  const std::vector<double> whole = {1, 2, 2, 2.5, 3, 3.5, 5, 6};
  ASSERT_EQ(grid.steps(), 8);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    EXPECT_NEAR(grid.t[0][static_cast<std::int64_t>(i)].item<double>(), whole[i] / 6, 1e-6);
  }
}

TEST(HybridOde, MasksOfDropoutAreDrawnOnceAnEvaluationOrOnceASolve) {
  // With a field of masks alone, steps that share them move the state alike.
  const auto increments = [](bool per_solve) {
    ModelOptions o = small_options("hybrid_ode");
    o.dropout_mlp = {0.5};
    o.flow.mask_per_solve = per_solve;
    o.solver.steps = 2;
    o.flow.first = 0;
    o.flow.last = 3;
    o.norm = NormChoice::None;
    o.flow.time_embedding = false;
    const Built exact(o, seeds_of(o), false, at::kDouble);
    const at::NoGradGuard no_grad;
    exact.parameter("flow.block.attn.out.weight").zero_();
    exact.parameter("flow.block.mlp.down.weight").zero_();
    exact.parameter("flow.block.mlp.down.bias").fill_(1);
    const std::vector<std::uint64_t> seeds = {3};
    const ForwardContext context{.training = true, .step = 1, .seeds = &seeds};
    const at::Tensor x = at::zeros({1, 2, 7, o.width}, at::kDouble);
    const std::vector<DepthSegment> whole = exact.model->family().segments(context);
    const DepthSegment& flow = whole.at(0);
    return std::pair{flow.field->evaluate(x, flow.grid.at(0), {}).dx,
                     flow.field->evaluate(x, flow.grid.at(1), {}).dx};
  };
  const auto [first, second] = increments(false);
  const auto [once, again] = increments(true);

  EXPECT_FALSE(at::equal(first, second));
  EXPECT_TRUE(at::equal(once, again));
}

}  // namespace hybrid_ode_test
}  // namespace depthgrid::testing
