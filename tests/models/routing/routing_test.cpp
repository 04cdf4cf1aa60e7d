// Layers that skip tokens: what is executed, what reads what, which loss reaches which parameter.
#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include <ATen/TensorOperators.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>

#include "models/blocks/attention.hpp"
#include "models/routing/causal_router.hpp"
#include "models/routing/decisions.hpp"
#include "models/routing/routed_field.hpp"
#include "models/routing/routing_record.hpp"
#include "tests/support/model_cases.hpp"
#include "tests/support/toy_training.hpp"

namespace depthgrid::testing {
namespace routing_test {

constexpr std::int64_t kTokens = 9;

Execution forced(const at::Tensor& masks) {
  return {.mode = ExecutionMode::Forced, .decider = {}, .thresholds = {}, .forced = masks};
}

struct Subject {
  explicit Subject(const std::string& family, double gamma = 0.5,
                   const std::function<void(ModelOptions&)>& change = {})
      : options(small_options(family)) {
    options.routing.capacity = {gamma};
    if (change) change(options);
    built = std::make_unique<Built>(options, std::vector<std::uint64_t>{5});
    tokens = at::randint(0, options.vocabulary, {1, 3, kTokens}, at::kLong);
  }

  at::Tensor logits(const Execution& e) const {
    return built->model->logits(tokens, {.execution = e});
  }
  at::Tensor masks(bool value) const {
    return at::full({1, 3, kTokens, options.layers}, value, at::kBool);
  }
  RoutingRecord record(ForwardContext context, bool teach = false) const {
    RoutingRecord seen;
    seen.teach = teach;
    context.routing = &seen;
    built->model->logits(tokens, context);
    return seen;
  }
  at::Tensor gradient(const std::string& name) const {
    return slot_view(built->arena->gradients(), built->arena->layout().find(name));
  }
  void set(const std::string& name, double value) const {
    slot_view(built->arena->values(), built->arena->layout().find(name)).fill_(value);
  }

  ModelOptions options;
  std::unique_ptr<Built> built;
  at::Tensor tokens;
};

double largest(const at::Tensor& x) {
  return x.abs().max().item<double>();
}

TEST(Student, AllOnesIsTheDenseModel) {
  const Subject s("tdt");

  const at::Tensor dense = s.logits({});

  EXPECT_LT(largest(s.logits(forced(s.masks(true))) - dense), 1e-4);
}

TEST(Student, DenseModeIsThePlainTransformerOfTheSameWeights) {
  // Start values go by name and seed, so both have the same blocks.
  const Subject s("tdt");
  ModelOptions plain = small_options("standard");
  plain.positions = Positions::Rope;
  const Built standard(plain, {5});

  EXPECT_TRUE(at::equal(s.logits({}), standard.model->logits(s.tokens, {})));
  for (const ParameterSlot& slot : s.built->arena->layout().slots()) {
    const auto& slots = standard.arena->layout().slots();
    const bool known = std::ranges::any_of(
        slots, [&](const ParameterSlot& p) { return p.spec.name == slot.spec.name; });
    const bool routing = slot.spec.name.find(".tpn.") != std::string::npos ||
                         slot.spec.name.find(".gate.") != std::string::npos ||
                         slot.spec.name.find(".router.") != std::string::npos;
    EXPECT_NE(known, routing) << slot.spec.name;
  }
}

TEST(Student, AllZerosLeavesEveryStateAsItWas) {
  const Subject s("tdt", 0.5, [](ModelOptions& o) { o.routing.layers = {0, 1, 2}; });
  const ForwardContext none{.execution = forced(s.masks(false))};
  const ForwardContext skip{.execution = Execution{.mode = ExecutionMode::SkipAll}};

  const at::Tensor after = s.built->model->states(s.tokens, none);

  const at::Tensor embedding =
      slot_view(s.built->arena->values(), s.built->arena->layout().find("embedding.weight"))[0];
  const at::Tensor before =
      embedding.index_select(0, s.tokens.flatten()).view({1, 3, kTokens, s.options.width});
  EXPECT_TRUE(at::equal(after, before));
  EXPECT_TRUE(at::equal(s.built->model->states(s.tokens, skip), before));
  EXPECT_TRUE(at::equal(s.built->model->states(s.tokens.flip({2}), none).flip({2}), before));
}

TEST(Student, DecisionsComeFromTheRouterAlone) {
  const Subject s("tdt");
  const auto share = [&](const Execution& e) {
    double sum = 0;
    for (const LayerRouting& layer : s.record({.execution = e}).layers) {
      sum += layer.executed.to(at::kDouble).mean().item<double>() / 2;
    }
    return sum;
  };
  Execution e{.mode = ExecutionMode::Student, .decider = Decider::Calibrated};
  e.thresholds = at::full({1, 2}, -std::numeric_limits<float>::infinity());
  EXPECT_EQ(share(e), 1);
  e.thresholds = at::full({1, 2}, std::numeric_limits<float>::infinity());
  EXPECT_EQ(share(e), 0);

  // Strictly above: a logit that equals the threshold is skipped.
  for (const char* layer : {"layers.1", "layers.2"}) {
    s.set(std::string(layer) + ".router.weight", 0);
  }
  e.decider = Decider::Threshold;
  EXPECT_EQ(share(e), 0);
  s.set("layers.1.router.bias", 1e-3);
  EXPECT_EQ(share(e), 0.5);
}

TEST(Student, ARealisedRateFallsWithTheThreshold) {
  const at::Tensor logits = at::randn({1, 4, 50});
  RoutingOptions o;
  o.capacity = {0.25};
  o.min_k = {0};
  double last = 1;
  for (const double tau : {0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0}) {
    o.threshold = {tau};
    const Execution e{.mode = ExecutionMode::Student, .decider = Decider::Threshold};
    const double rate = student_mask(o, e, logits, 0).to(at::kDouble).mean().item<double>();
    EXPECT_LE(rate, last);
    if (tau == 0 || tau == 1) {
      EXPECT_EQ(rate, 1 - tau);
    }
    last = rate;
  }
}

TEST(Student, TheRouterReadsThePreviousTokenAlsoAcrossAChunk) {
  ModelOptions o = small_options("tdt");
  ParameterLayout layout;
  CausalRouter(layout, o, "router");
  Arena arena(layout, {3}, at::kFloat);
  const CausalRouter router(arena, o, "router");
  const at::Tensor x = at::randn({1, 2, 7, o.width});

  const at::Tensor whole = router.logits(o, x);

  for (const std::int64_t cut : {1, 3, 6}) {
    at::Tensor memory;
    const at::Tensor a = router.logits(o, x.narrow(2, 0, cut), &memory);
    const at::Tensor b = router.logits(o, x.narrow(2, cut, 7 - cut), &memory);
    EXPECT_TRUE(at::equal(at::cat({a, b}, 2), whole)) << cut;
  }
  at::Tensor changed = x.clone();
  changed.select(2, 3) += 1;
  const at::Tensor moved = (router.logits(o, changed) - whole).abs().amax({0, 1});
  for (std::int64_t t = 0; t < 7; ++t) {
    EXPECT_EQ(moved[t].item<float>() > 0, t == 3 || t == 4) << t;
  }
}

TEST(MaskedBlock, SkippedTokensAreInvisibleAndOrderIsThatOfTheText) {
  const ModelOptions o = small_options("tdt");
  const at::Tensor qkv = at::randn({1, 1, 6, 3 * o.width});
  at::Tensor executed = at::zeros({1, 1, 6}, at::kBool);
  for (const std::int64_t t : {0, 2, 5}) executed.select(2, t).fill_(true);
  const auto attend = [&](const at::Tensor& x) {
    return masked_attention(o, x, visible_keys(executed), 0, {});
  };
  const at::Tensor base = attend(qkv);

  for (std::int64_t j = 0; j < 6; ++j) {
    at::Tensor changed = qkv.clone();
    changed.select(2, j) += 1;
    const at::Tensor moved = (attend(changed) - base).abs().amax({0, 1, 3});
    for (const std::int64_t i : {0, 2, 5}) {
      const bool reads = i == j || (j < i && (j == 0 || j == 2));
      EXPECT_EQ(moved[i].item<float>() > 1e-7, reads) << i << " of " << j;
    }
  }
}

TEST(MaskedBlock, RotationsAreByThePositionInTheText) {
  // Attention over executed tokens {0, 2, 5} is attention over those three at positions 0, 2, 5.
  const ModelOptions o = small_options("tdt");
  const std::int64_t head = o.width / o.heads;
  const at::Tensor x = at::randn({1, o.heads, 6, head});
  const auto turned = [&](const at::Tensor& some, std::int64_t first) {
    return rotate(rotary_angles(o, first, some.size(2), some), some);
  };
  const at::Tensor all = turned(x, 0);

  for (const std::int64_t t : {0, 2, 5}) {
    const at::Tensor one = turned(x.narrow(2, t, 1), t);
    EXPECT_LT(largest(one - all.narrow(2, t, 1)), 1e-6) << t;
    EXPECT_GT(largest(turned(x.narrow(2, t, 1), t + 1) - one), 1e-3);
  }
}

TEST(Teacher, CountsAreExactInEveryRowAndLayer) {
  for (const std::string family : {"tdt", "mod"}) {
    const Subject s(family, 0.25);
    const RoutingRecord record =
        s.record({.execution = Execution{.mode = ExecutionMode::TeacherTopk}});
    ASSERT_EQ(record.layers.size(), 2U);
    for (const LayerRouting& layer : record.layers) {
      EXPECT_TRUE(layer.executed.sum(-1).eq(2).all().item<bool>()) << family;
    }
  }
}

TEST(Teacher, GatedTrainingOfFullCapacityIsTheDenseModel) {
  const Subject s("tdt", 1);
  const ForwardContext training{.training = true, .step = 1, .seeds = &s.built->seeds};

  const at::Tensor gated = s.built->model->logits(s.tokens, training);

  EXPECT_LT(largest(gated - s.logits({})), 1e-4);
}

TEST(Teacher, FirstTokenIsPredictedFromZero) {
  const Subject s("tdt");
  const RoutingRecord record = s.record({.execution = Execution{}}, true);
  for (const LayerRouting& layer : record.layers) {
    EXPECT_EQ(largest(layer.predicted.select(2, 0)), 0);
    EXPECT_TRUE(at::equal(layer.signals.d_ch.select(2, 0), layer.signals.d_st.select(2, 0)));
    EXPECT_TRUE(at::equal(layer.signals.ma.select(2, 0), layer.signals.d_st.select(2, 0)));
    EXPECT_GT(largest(layer.predicted.select(2, 1)), 0);
  }
}

TEST(Teacher, SignalsDoNotSeeTheFuture) {
  Subject s("tdt");
  const ForwardContext dense{.execution = Execution{}};
  const RoutingRecord before = s.record(dense, true);
  s.tokens = s.tokens.clone();
  at::Tensor tail = s.tokens.narrow(2, 5, kTokens - 5);
  tail.copy_((tail + 3) % s.options.vocabulary);
  const RoutingRecord after = s.record(dense, true);
  for (std::size_t i = 0; i < before.layers.size(); ++i) {
    const auto same = [&](const at::Tensor& a, const at::Tensor& b) {
      return at::equal(a.narrow(2, 0, 5), b.narrow(2, 0, 5));
    };
    EXPECT_TRUE(same(before.layers[i].signals.gate, after.layers[i].signals.gate));
    EXPECT_TRUE(same(before.layers[i].signals.ma, after.layers[i].signals.ma));
    EXPECT_FALSE(at::equal(before.layers[i].signals.gate, after.layers[i].signals.gate));
  }
}

TEST(Teacher, EffectiveScalarsStartAsConfigured) {
  for (const bool positive : {true, false}) {
    const Subject s("tdt", 0.5, [&](ModelOptions& o) { o.tdt.positive_scalars = positive; });
    const LayerRouting layer = s.record({.execution = Execution{}}, true).layers.front();
    EXPECT_NEAR(layer.scalars.o_ce.item<double>(), 1.025, 1e-6);
    EXPECT_NEAR(layer.scalars.m_cu.item<double>(), 1.1, 1e-6);
  }
  const Subject s("tdt");
  s.set("layers.1.gate.o_ce", -50);
  const LayerRouting layer = s.record({.execution = Execution{}}, true).layers.front();
  EXPECT_GT(layer.scalars.o_ce.item<double>(), 0);
  EXPECT_TRUE(layer.signals.gate.isfinite().all().item<bool>());
}

/// Which of the parameters of one dynamic layer a loss reaches.
struct Reach {
  bool block, network, scalars, router;
  bool operator==(const Reach&) const = default;
};

Reach reach(const Subject& s, int part) {
  CellLanguageModel model(*s.built->model, s.built->seeds);
  const at::Tensor windows = at::randint(0, s.options.vocabulary, {1, 4, kTokens + 1}, at::kLong);
  s.built->arena->zero_gradients();
  const Objective::Losses losses = model.losses({windows, 1});
  const at::Tensor loss = part < 0 ? losses.loss : losses.parts[static_cast<std::size_t>(part)];
  loss.sum().backward();
  const auto any = [&](const std::string& name) { return largest(s.gradient(name)) > 0; };
  return {any("embedding.weight") || any("layers.1.mlp.up.weight"), any("layers.1.tpn.up.weight"),
          any("layers.1.gate.o_ce") && any("layers.1.gate.m_cu") && any("layers.1.gate.beta_ce") &&
              any("layers.1.gate.beta_cu"),
          any("layers.1.router.weight")};
}

TEST(Gradients, EachLossReachesWhatTheTableSays) {
  const auto with = [](TrainPath path, const std::function<void(ModelOptions&)>& more = {}) {
    return Subject("tdt", 0.5, [=](ModelOptions& o) {
      o.tdt.path = path;
      if (more) more(o);
    });
  };
  constexpr int kLanguage = -1, kTpn = 0, kCausal = 1;
  for (const TrainPath path : {TrainPath::GatedSt, TrainPath::GatedSoft}) {
    EXPECT_EQ(reach(with(path), kLanguage), (Reach{true, false, true, false}));
    EXPECT_EQ(reach(with(path), kTpn), (Reach{false, true, false, false}));
    EXPECT_EQ(reach(with(path), kCausal), (Reach{false, false, false, true}));
  }
  EXPECT_EQ(reach(with(TrainPath::Dense), kLanguage), (Reach{true, false, false, false}));
  EXPECT_EQ(reach(with(TrainPath::Dense), kTpn), (Reach{false, true, false, false}));
  EXPECT_EQ(reach(with(TrainPath::Dense), kCausal), (Reach{false, false, false, true}));
  const auto leaky = [](ModelOptions& o) {
    o.tdt.tpn_detach_input = o.tdt.router_detach_input = false;
  };
  EXPECT_EQ(reach(with(TrainPath::Dense, leaky), kTpn), (Reach{true, true, false, false}));
  EXPECT_EQ(reach(with(TrainPath::Dense, leaky), kCausal), (Reach{true, false, false, true}));
  const auto attached = [](ModelOptions& o) { o.tdt.gate_grad_to_trunk = true; };
  EXPECT_EQ(reach(with(TrainPath::GatedSt, attached), kLanguage), (Reach{true, true, true, false}));
}

TEST(Gradients, ScalarsOfTheDensePathKeepTheirBits) {
  const Subject s("tdt", 0.5, [](ModelOptions& o) { o.tdt.path = TrainPath::Dense; });
  TrainOptions t = small_training({1e-2}, {0.3});
  t.weight_decay[static_cast<std::size_t>(ParameterGroup::Scalars)] = 0;
  CellOptimizer optimizer(*s.built->arena, t);
  CellLanguageModel model(*s.built->model, s.built->seeds);
  const at::Tensor start = s.built->arena->values().clone();
  for (std::int64_t step = 1; step <= 5; ++step) {
    const at::Tensor windows = at::randint(0, s.options.vocabulary, {1, 4, kTokens + 1}, at::kLong);
    model.losses({windows, step}).total.backward(at::full({1}, 1.0 / 36));
    optimizer.step(step, {1});
  }
  for (const ParameterSlot& slot : s.built->arena->layout().slots()) {
    const bool same = at::equal(slot_view(start, slot), slot_view(s.built->arena->values(), slot));
    EXPECT_EQ(same, slot.spec.group == ParameterGroup::Scalars) << slot.spec.name;
  }
}

TEST(Surprise, ItsLevelIsTheAverageOfWhatTrainingSaw) {
  const Subject s("tdt", 0.5, [](ModelOptions& o) { o.tdt.layer_rms = true; });
  CellOptimizer optimizer(*s.built->arena, small_training({0}, {0}));
  CellLanguageModel model(*s.built->model, s.built->seeds);
  const auto level = [&](int layer) {
    const std::string name = "layers." + std::to_string(layer) + ".gate.d_st_mean";
    return slot_view(s.built->arena->values(), s.built->arena->layout().find(name)).item<double>();
  };
  EXPECT_EQ(level(1), 1);
  std::vector<double> sum(3, 0);
  for (std::int64_t step = 1; step <= 3; ++step) {
    const at::Tensor windows = at::randint(0, s.options.vocabulary, {1, 4, kTokens + 1}, at::kLong);
    RoutingRecord seen;
    s.built->model->logits(
        windows.narrow(2, 0, kTokens),
        {.training = true, .step = step, .seeds = &s.built->seeds, .routing = &seen});
    const Objective::Losses losses = model.losses({windows, step});
    EXPECT_EQ(losses.parts.size(), 2U);
    EXPECT_EQ(model.loss_parts().size(), 2U);
    losses.total.backward(at::full({1}, 1.0 / (4 * kTokens)));
    optimizer.step(step, {1});
    for (const LayerRouting& layer : seen.layers) {
      double& of_layer = sum[static_cast<std::size_t>(layer.layer)];
      of_layer += layer.signals.d_st.to(at::kDouble).mean().item<double>();
      const double mean = of_layer / static_cast<double>(step);
      EXPECT_NEAR(level(static_cast<int>(layer.layer)) / mean, 1, 1e-5);
    }
  }
  // What a pass of evaluation reads does not move it.
  const double before = level(1);
  s.logits({.mode = ExecutionMode::TeacherTopk});
  EXPECT_EQ(level(1), before);
}

TEST(Losses, AreMeansOverLayersAndTokens) {
  for (const std::string family : {"tdt", "mod"}) {
    const Subject s(family);
    CellLanguageModel model(*s.built->model, s.built->seeds);
    const at::Tensor windows = at::randint(0, s.options.vocabulary, {1, 4, kTokens + 1}, at::kLong);
    const Objective::Losses once = model.losses({windows, 1});
    const Objective::Losses twice = model.losses({at::cat({windows, windows}, 1), 1});
    at::Tensor total = once.loss;
    const std::vector<LossTerm> terms = s.built->model->loss_terms();
    for (std::size_t i = 0; i < terms.size(); ++i) {
      EXPECT_TRUE(at::allclose(once.parts[i] * 2, twice.parts[i], 1e-6, 1e-6));
      total = total + terms[i].weight[0] * once.parts[i];
    }
    EXPECT_TRUE(at::allclose(total, once.total, 1e-6, 1e-6));
  }
  const Subject s("tdt");
  const at::Tensor windows = at::cat({s.tokens, s.tokens.narrow(2, 0, 1)}, 2);
  const auto parts = CellLanguageModel(*s.built->model, s.built->seeds).losses({windows, 1}).parts;
  const RoutingRecord record = s.record({.training = true, .step = 1, .seeds = &s.built->seeds});
  double mse = 0;
  for (const LayerRouting& layer : record.layers) {
    mse += layer.signals.d_ch.to(at::kDouble).mean().item<double>() / 2;
  }
  EXPECT_NEAR(parts[0].item<double>() / (3 * kTokens), mse, 1e-6 * std::max(1.0, mse));
}

TEST(Mod, OutputIsTheStatePlusTheGatedIncrementOfSelectedTokens) {
  const Subject s("mod", 0.25, [](ModelOptions& o) { o.routing.layers = {2}; });
  const ForwardContext topk{.execution = Execution{.mode = ExecutionMode::TeacherTopk}};
  const LayerRouting layer = s.record(topk).layers.front();
  const ForwardContext none{.execution = Execution{.mode = ExecutionMode::SkipAll}};

  const at::Tensor x = s.built->model->states(s.tokens, none);  // in front of the last layer
  const at::Tensor y = s.built->model->states(s.tokens, topk);

  const at::Tensor skipped = layer.executed.logical_not().unsqueeze(-1);
  EXPECT_EQ(largest((y - x) * skipped), 0);
  // A gate of 1 would give the whole increment: scale the router and compare.
  s.set("layers.2.router.weight", 0);
  const at::Tensor half = s.built->model->states(
      s.tokens, {.execution = forced(layer.executed.unsqueeze(-1).expand({1, 3, kTokens, 3}))});
  const at::Tensor full = (half - x) * 2;
  const at::Tensor gate = layer.execution_gate.unsqueeze(-1);
  EXPECT_LT(largest((y - x) - full * gate), 1e-5);
}

TEST(Mod, ThePredictorSendsNothingIntoTheTrunk) {
  const Subject s("mod");
  CellLanguageModel model(*s.built->model, s.built->seeds);
  const at::Tensor windows = at::randint(0, s.options.vocabulary, {1, 4, kTokens + 1}, at::kLong);
  model.losses({windows, 1}).parts[0].sum().backward();
  for (const ParameterSlot& slot : s.built->arena->layout().slots()) {
    const at::Tensor g = slot_view(s.built->arena->gradients(), slot);
    EXPECT_EQ(largest(g) > 0, slot.spec.group == ParameterGroup::Predictor) << slot.spec.name;
  }
}

TEST(Random, HasItsRateAndDependsOnNothingButThePlace) {
  RoutingOptions o;
  o.capacity = {0.25, 0.25, 0.5};
  const at::Tensor like = at::zeros({3, 200, 32});
  const at::Tensor mask = random_mask(o, like, 1, 0);
  const at::Tensor rate = mask.to(at::kDouble).mean({1, 2});
  EXPECT_NEAR(rate[0].item<double>(), 0.25, 0.02);
  EXPECT_NEAR(rate[2].item<double>(), 0.5, 0.02);
  EXPECT_TRUE(at::equal(mask[0], mask[1]));
  EXPECT_TRUE(at::equal(random_mask(o, like.narrow(1, 0, 150), 1, 50), mask.narrow(1, 50, 150)));
  EXPECT_FALSE(at::equal(random_mask(o, like, 2, 0), mask));
}

}  // namespace routing_test
}  // namespace depthgrid::testing
