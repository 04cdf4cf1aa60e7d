// What probes see of a model is what the model computes.
#include "models/probed_model.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/isnan.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn_like.h>

#include "core/base/error.hpp"
#include "core/probe/gates/gates_probe.hpp"
#include "core/probe/lens/logit_lens_probe.hpp"
#include "models/cell_language_model.hpp"
#include "models/ops/cell_cross_entropy.hpp"
#include "tests/core/probe/recorded_rows.hpp"
#include "tests/support/model_cases.hpp"
#include "tests/support/toy_training.hpp"

namespace depthgrid::testing {
namespace probed_model_test {

class ProbedModelTest : public ::testing::TestWithParam<ModelCase> {
 protected:
  ProbedModelTest() {
    options_ = small_options(GetParam().family, 2);
    GetParam().change(options_);
    built_ = std::make_unique<Built>(options_, std::vector<std::uint64_t>{3, 4});
    ProbeSet set;
    set.windows = at::randint(0, options_.vocabulary, {5, 10}, at::kLong);
    probed_ = std::make_unique<ProbedModel>(*built_->model, set);
  }

  ModelOptions options_;
  std::unique_ptr<Built> built_;
  std::unique_ptr<ProbedModel> probed_;

  /// The method carries more than the state from step to step.
  bool remembers() const { return options_.solver.method->coefficients() == nullptr; }
};

TEST_P(ProbedModelTest, StatesBeginWithTheEmbeddingAndEndWithWhatIsReadOut) {
  const at::NoGradGuard no_grad;
  const std::vector<at::Tensor> states = probed_->states(1, 3);
  ASSERT_EQ(static_cast<std::int64_t>(states.size()), probed_->depth() + 1);
  const at::Tensor tokens =
      probed_->set().windows.narrow(0, 1, 3).narrow(1, 0, 9).unsqueeze(0).expand({2, -1, -1});
  EXPECT_TRUE(at::equal(states.front(), built_->model->embed(tokens)));
  EXPECT_TRUE(at::equal(states.front(), probed_->start(1, 3)));
  const ForwardContext context{
      .first_row = 1, .execution = Execution{.mode = built_->model->family().training_mode().mode}};
  EXPECT_TRUE(at::equal(probed_->logits(states.back()), built_->model->logits(tokens, context)));
}

TEST_P(ProbedModelTest, StepsOneByOneAreTheWholeDepth) {
  const at::NoGradGuard no_grad;
  const std::vector<at::Tensor> states = probed_->states(0, 5);
  const auto track = probed_->track(TrackPath::Kernels);
  const std::int64_t depth = probed_->depth();
  const at::Tensor whole = track->advance(states[0], 0, depth);
  at::Tensor x = states[0];
  const bool skips = !options_.routing.layers.empty();
  for (std::int64_t l = 0; l < depth; ++l) {
    x = track->advance(x, l, l + 1);
    // Layers that skip tokens execute all of them here; what is remembered begins afresh.
    EXPECT_TRUE(skips || remembers() || at::equal(x, states[static_cast<std::size_t>(l + 1)]))
        << "step " << l;
  }
  EXPECT_TRUE(remembers() || at::equal(x, whole));
  EXPECT_TRUE(skips || at::equal(whole, states.back()));
  EXPECT_TRUE(at::equal(track->advance(states[0], 0, 0), states[0]));
  EXPECT_THROW(track->advance(x, 0, depth + 1), Error);
}

TEST_P(ProbedModelTest, DepthTimesRunFromZeroToOne) {
  const at::Tensor edges = probed_->edge_times();
  ASSERT_EQ(edges.size(1), probed_->depth() + 1);
  EXPECT_EQ(edges[0][0].item<double>(), 0);
  EXPECT_NEAR(edges[1][probed_->depth()].item<double>(), 1, 1e-15);
  EXPECT_GT(edges.diff(1, 1).min().item<double>(), 0);
}

TEST_P(ProbedModelTest, GatesLieInTheirRange) {
  const at::Tensor times = probed_->gate_times();
  if (!times.defined()) {
    EXPECT_TRUE(probed_->gates(probed_->edge_times()).empty());
    return;
  }
  ASSERT_EQ(times.size(1), probed_->depth());
  const GateRange range = probed_->gate_range();
  const std::vector<GateValues> gates = probed_->gates(times);
  EXPECT_FALSE(gates.empty());
  for (const GateValues& g : gates) {
    EXPECT_EQ(g.values.size(1), probed_->depth());
    const at::Tensor known = g.values.masked_select(g.values.isnan().logical_not());
    EXPECT_GT(known.numel(), 0);
    if (std::isnan(range.low)) continue;
    EXPECT_GE(known.min().item<float>(), range.low);
    EXPECT_LE(known.max().item<float>(), range.high);
  }
}

TEST_P(ProbedModelTest, FactorsAreOfEveryStep) {
  const std::vector<DepthFactor> factors = probed_->depth_factors();
  const ModelOptions& o = built_->model->options();
  const bool some = o.norm == NormChoice::TemporalLayer || o.init.learned_gain ||
                    (o.mixer == Mixer::Ssm && o.modulation.gate != GateKind::Constant);
  EXPECT_EQ(!factors.empty(), some);
  const GateRange range = probed_->gate_range();
  for (const DepthFactor& factor : factors) {
    EXPECT_EQ(factor.values.size(0), 2) << factor.name;
    EXPECT_EQ(factor.values.size(1), probed_->depth()) << factor.name;
    EXPECT_TRUE(factor.values.isfinite().all().item<bool>()) << factor.name;
    if (factor.name.starts_with("ssm.") && !std::isnan(range.low)) {
      EXPECT_GE(factor.values.min().item<float>(), range.low);
      EXPECT_LE(factor.values.max().item<float>(), range.high);
    }
  }
}

/// ∂ℓ/∂H_l against a central difference of the loss along a random direction.
TEST_P(ProbedModelTest, GradientsOfStatesAreThoseOfTheLoss) {
  const std::vector<at::Tensor> gradients = probed_->state_gradients(0, 2);
  ASSERT_EQ(static_cast<std::int64_t>(gradients.size()), probed_->depth() + 1);
  const at::NoGradGuard no_grad;
  const auto track = probed_->track(TrackPath::Kernels);
  const at::Tensor x0 = built_->model->embed(
      probed_->set().windows.narrow(0, 0, 2).narrow(1, 0, 9).unsqueeze(0).expand({2, -1, -1}));
  const at::Tensor targets =
      probed_->set().windows.narrow(0, 0, 2).narrow(1, 1, 9).unsqueeze(0).expand({2, -1, -1});
  for (const std::int64_t l : {std::int64_t{0}, probed_->depth() - 1, probed_->depth()}) {
    const at::Tensor x = track->advance(x0, 0, l);
    const auto loss = [&](const at::Tensor& at) {
      const at::Tensor logits = probed_->logits(track->advance(at, l, probed_->depth()));
      return cell_cross_entropy(logits.to(at::kDouble), targets).sum().item<double>() / 9;
    };
    const at::Tensor v = at::randn_like(x);
    const double slope = (loss(x + 1e-2 * v) - loss(x - 1e-2 * v)) / 2e-2;
    const double expected = (gradients[static_cast<std::size_t>(l)] * v).sum().item<double>();
    const double scale =
        gradients[static_cast<std::size_t>(l)].norm().item<double>() * std::sqrt(v.numel() / 9.0);
    const bool amid = remembers() && l == probed_->depth() - 1 && options_.flow.replaced() == 0;
    if (amid) continue;  // what is remembered begins afresh where the depth is cut
    EXPECT_NEAR(slope, expected, 2e-2 * scale + 1e-4) << "state " << l;
  }
}

TEST_P(ProbedModelTest, TheLensAtTheLastDepthIsTheLossOfTheModel) {
  LogitLensProbe lens(*probed_, ProbeSchedule("end", 1));
  RecordedRows out;
  lens.declare(out);
  lens.measure(1, out);
  CellLanguageModel language(*built_->model, {3, 4});
  language.execution = Execution{.mode = built_->model->family().training_mode().mode};
  const at::NoGradGuard no_grad;
  const at::Tensor loss =
      language.score({.windows = probed_->set().windows.unsqueeze(0)}).loss.mean({1, 2});
  for (std::size_t e = 0; e < 2; ++e) {
    const auto& by_depth = out.row("logit_lens_loss", e);
    ASSERT_EQ(static_cast<std::int64_t>(by_depth.size()), probed_->depth() + 1);
    EXPECT_NEAR(by_depth.back(), loss[static_cast<std::int64_t>(e)].item<double>(), 1e-5);
    EXPECT_EQ(out.row("logit_lens_agreement", e).back(), 1) << "it agrees with itself";
    EXPECT_NE(by_depth.front(), by_depth.back()) << "depths differ";
  }
}

INSTANTIATE_TEST_SUITE_P(Families, ProbedModelTest, ::testing::ValuesIn(model_cases()),
                         [](const auto& p) { return p.param.name; });

/// A shared matrix is multiplied by its gain: what the probe says is what the step's weights show.
TEST(ProbedModel, GainsAreTheFactorsOfTheSharedWeights) {
  const at::NoGradGuard no_grad;
  ModelOptions o = small_options("time_indexed", 2);
  o.modulation.gate = GateKind::Constant;
  o.init.learned_gain = true;
  const Built built(o, {3, 4});
  ProbeSet set;
  set.windows = at::randint(0, o.vocabulary, {2, 5}, at::kLong);
  const ProbedModel probed(*built.model, set);
  const auto norms = [&] {
    std::vector<at::Tensor> out;
    probed.step_weights([&](std::int64_t, const StepWeights& w) { out.push_back(w.up.norm()); });
    return out;
  };
  const std::vector<at::Tensor> before = norms();
  for (const DepthFactor& factor : probed.depth_factors()) {
    EXPECT_TRUE(factor.values.eq(1).all().item<bool>()) << factor.name << " at the start";
    if (factor.name == "gain.up") factor.values.narrow(1, 0, 1).mul_(3);  // a view of the parameter
  }
  const std::vector<at::Tensor> after = norms();
  ASSERT_FALSE(before.empty());
  EXPECT_NEAR(after[0].item<float>(), 3 * before[0].item<float>(), 1e-4);
}

/// The gates are those of the weights: a base of ones, gated, is the gate.
TEST(ProbedModel, GatesAreTheFactorsOfTheWeights) {
  const at::NoGradGuard no_grad;
  ModelOptions o = small_options("time_indexed", 2);
  const Built built(o, {3, 4});
  ProbeSet set;
  set.windows = at::randint(0, o.vocabulary, {2, 5}, at::kLong);
  const ProbedModel probed(*built.model, set);
  const std::vector<GateValues> gates = probed.gates(probed.gate_times());
  const std::vector<DecodeBlock> blocks =
      built.model->family().blocks(built.model->family().grid({}));
  ASSERT_EQ(gates.size(), 6U);
  for (std::int64_t l = 0; l < probed.depth(); ++l) {
    const BlockWeights& w = blocks[static_cast<std::size_t>(l)].weights;
    const std::int64_t c = o.width;
    const auto is = [&](std::size_t type, const at::Tensor& gate) {
      EXPECT_TRUE(at::equal(gates[type].values.select(1, l), gate.squeeze(2)))
          << gates[type].weight_type << " " << l;
    };
    is(0, w.qkv.gate.narrow(1, 0, c));
    is(1, w.qkv.gate.narrow(1, c, c));
    is(2, w.qkv.gate.narrow(1, 2 * c, c));
    is(3, w.out.gate);
    is(4, w.up.gate);
    is(5, w.down.gate);
  }
}

TEST(ProbedModel, GatesOfStateSpaceLayersAreOnTheAxisOfWeightTypes) {
  const auto all = model_cases();
  const auto one = std::ranges::find(all, "time_indexed_ssm_plain", &ModelCase::name);
  ASSERT_NE(one, all.end());
  ModelOptions o = small_options(one->family, 2);
  one->change(o);
  const Built built = built_and_moved(o, at::kFloat);
  ProbeSet set;
  set.windows = at::randint(0, o.vocabulary, {2, 5}, at::kLong);
  const ProbedModel probed(*built.model, set);
  GatesProbe probe(probed, {.schedule = {}, .bins = 8, .grid = 12});
  RecordedRows rows;
  probe.declare(rows);
  probe.measure(0, rows);
  const auto mean = std::ranges::find(rows.series, "gate_mean", &SeriesSpec::name);
  ASSERT_NE(mean, rows.series.end());
  const std::vector<std::string>& types = mean->axes[1].labels;
  std::size_t compared = 0;
  for (const DepthFactor& factor : probed.depth_factors()) {
    const auto type =
        static_cast<std::size_t>(std::ranges::find(types, gated_type(factor.name)) - types.begin());
    if (type == types.size()) continue;  // a temporal norm
    for (std::int64_t l = 0; l < probed.depth(); ++l) {
      const double found =
          rows.row("gate_mean", 1)[static_cast<std::size_t>(l) * types.size() + type];
      EXPECT_NEAR(found, factor.values[1][l].mean().item<double>(), 1e-6) << factor.name;
    }
    EXPECT_GT(rows.row("gate_total_variation", 1)[type], 0) << "between the steps, too";
    EXPECT_FALSE(std::isnan(rows.row("gate_saturation", 1)[type]));
    ++compared;
  }
  EXPECT_GE(compared, 3U);
  EXPECT_GT(types.size(), 6U);
}

}  // namespace probed_model_test
}  // namespace depthgrid::testing
