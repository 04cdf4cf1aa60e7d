// Controls that a comparison over depth needs: layers that share weights, one layer, and layers
// that all see the same depth-time.
#include <algorithm>

#include <gtest/gtest.h>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>

#include "tests/support/model_cases.hpp"
#include "tests/support/toy_training.hpp"

namespace depthgrid::testing {
namespace controls_test {

/// Copies parameters of equal name; those of `to` that `from` lacks come from the block that its
/// layers share.
void copy_parameters(const Built& from, Built& to) {
  const at::NoGradGuard no_grad;
  for (const ParameterSlot& slot : to.arena->layout().slots()) {
    std::string name = slot.spec.name;
    const auto& known = from.arena->layout().slots();
    const bool same = std::ranges::any_of(
        known, [&](const ParameterSlot& other) { return other.spec.name == name; });
    if (!same) name = "block" + name.substr(name.find('.', std::string("layers.").size()));
    slot_view(to.arena->values(), slot)
        .copy_(slot_view(from.arena->values(), from.arena->layout().find(name)));
  }
}

class ShareTest : public ::testing::TestWithParam<Share> {};

TEST_P(ShareTest, IsSeparateLayersOfEqualWeights) {
  ModelOptions o = small_options("standard", 2);
  o.share = GetParam();
  Built shared(o, {3, 4});
  o.share = Share::None;
  Built separate(o, {5, 6});
  copy_parameters(shared, separate);
  const at::Tensor windows = at::randint(0, o.vocabulary, {2, 3, 10}, at::kLong);

  const at::Tensor ours = CellLanguageModel(*shared.model, shared.seeds).losses({windows, 1}).total;
  const at::Tensor theirs =
      CellLanguageModel(*separate.model, separate.seeds).losses({windows, 1}).total;
  ours.backward(at::full({2}, 1.0));
  theirs.backward(at::full({2}, 1.0));

  EXPECT_TRUE(at::equal(ours, theirs));
  // A shared weight's gradient is the sum over its layers.
  for (const ParameterSlot& slot : shared.arena->layout().slots()) {
    at::Tensor sum;
    const std::string tail = slot.spec.name.substr(slot.spec.name.find('.'));
    for (const ParameterSlot& other : separate.arena->layout().slots()) {
      const bool layer = slot.spec.name.starts_with("block.") &&
                         other.spec.name.starts_with("layers.") && other.spec.name.ends_with(tail);
      if (!layer && other.spec.name != slot.spec.name) continue;
      const at::Tensor g = slot_view(separate.arena->gradients(), other);
      sum = sum.defined() ? sum + g : g;
    }
    ASSERT_TRUE(sum.defined()) << slot.spec.name;
    EXPECT_TRUE(at::allclose(slot_view(shared.arena->gradients(), slot), sum, 1e-4, 1e-5))
        << slot.spec.name;
  }
}

INSTANTIATE_TEST_SUITE_P(EveryWord, ShareTest,
                         ::testing::Values(Share::All, Share::Attention, Share::FeedForward),
                         [](const auto& p) {
                           return std::string(p.param == Share::All         ? "all"
                                              : p.param == Share::Attention ? "attention"
                                                                            : "ffn");
                         });

TEST(Controls, SharingAllIsATimeIndexedBlockWithoutGates) {
  for (const Sublayers sublayers : {Sublayers::Sequential, Sublayers::Parallel}) {
    ModelOptions o = small_options("standard");
    o.share = Share::All;
    o.sublayers = sublayers;
    const Built shared(o, {3});
    ModelOptions t = small_options("time_indexed");
    t.sublayers = sublayers;
    t.modulation.gate = GateKind::Constant;
    const Built bare(t, {3});
    const at::Tensor tokens = at::randint(0, o.vocabulary, {1, 3, 9}, at::kLong);

    EXPECT_TRUE(at::equal(shared.model->logits(tokens, {}), bare.model->logits(tokens, {})));
  }
}

TEST(Controls, OneLayerHasNothingToShare) {
  ModelOptions o = small_options("standard");
  o.layers = 1;
  o.share = Share::All;
  const Built shared(o, {3});
  o.share = Share::None;
  Built separate(o, {3});
  copy_parameters(shared, separate);
  const at::Tensor tokens = at::randint(0, o.vocabulary, {1, 3, 9}, at::kLong);

  EXPECT_EQ(shared.arena->layout().size(), separate.arena->layout().size());
  EXPECT_TRUE(at::equal(shared.model->logits(tokens, {}), separate.model->logits(tokens, {})));
}

TEST(Controls, LearnedGainsScaleTheBaseMatrices) {
  for (const Mixer mixer : {Mixer::Mlp, Mixer::Ssm}) {
    ModelOptions o = small_options("time_indexed", 2);
    if (mixer == Mixer::Ssm) with_state_space(o);
    Built plain(o, {3, 4});
    o.init.learned_gain = true;
    const Built scaled(o, {3, 4});
    const at::Tensor tokens = at::randint(0, o.vocabulary, {2, 3, 9}, at::kLong);
    const auto logits = [&](const Built& built) { return built.model->logits(tokens, {}); };
    const at::NoGradGuard no_grad;
    const auto view = [](const Built& built, const std::string& name) {
      return slot_view(built.arena->values(), built.arena->layout().find(name));
    };

    EXPECT_TRUE(at::equal(logits(scaled), logits(plain)));  // all factors start at 1

    const at::Tensor gain = view(scaled, "block.gain");
    for (std::int64_t i = 0; i < gain.size(1); ++i) {
      gain.select(1, i).copy_(at::arange(1, 3) * 0.25 + 0.125 * i);
    }
    const std::int64_t c = o.width;
    for (std::int64_t i = 0; i < 3; ++i) {
      view(plain, "block.attn.qkv.weight")
          .narrow(1, i * c, c)
          .mul_(gain.select(1, i).view({2, 1, 1}));
    }
    view(plain, "block.attn.out.weight").mul_(gain.select(1, 3).view({2, 1, 1}));
    if (mixer == Mixer::Mlp) {
      view(plain, "block.mlp.up.weight").mul_(gain.select(1, 4).view({2, 1, 1}));
      view(plain, "block.mlp.down.weight").mul_(gain.select(1, 5).view({2, 1, 1}));
    }
    EXPECT_TRUE(at::allclose(logits(scaled), logits(plain), 1e-5, 1e-6));
  }
}

/// Families that see depth-time, and what one must change to get there.
std::vector<ModelCase> timed_cases() {
  return {{"time_indexed", "time_indexed", [](ModelOptions&) {}},
          {"ssm", "time_indexed", with_state_space},
          {"temporal_norms", "time_indexed",
           [](ModelOptions& o) { o.norm = NormChoice::TemporalLayer; }},
          {"tong", "tong", [](ModelOptions&) {}}};
}

class DepthTime : public ::testing::TestWithParam<ModelCase> {
 protected:
  /// dx of each layer from one and the same state.
  static std::vector<at::Tensor> increments(const ModelOptions& o) {
    const Built built(o, {3, 4});
    const at::NoGradGuard no_grad;
    const at::Tensor x = at::randn({2, 2, 5, o.width}, at::make_generator<at::CPUGeneratorImpl>(1));
    const ForwardContext context;
    const std::vector<DepthSegment> whole = built.model->family().segments(context);
    const DepthGrid& grid = whole.front().grid;
    const VectorField& field = *whole.front().field;
    std::vector<at::Tensor> out;
    for (std::int64_t i = 0; i < o.layers; ++i) {
      out.push_back(field.evaluate(x, {grid.t.select(1, i), grid.h.select(1, i), i}, {}).dx);
    }
    return out;
  }

  static ModelOptions options() {
    ModelOptions o = small_options(GetParam().family, 2);
    GetParam().change(o);
    return o;
  }
};

TEST_P(DepthTime, ConstantMakesAllLayersTheSameMapOfTheState) {
  ModelOptions o = options();
  o.time.constant = {true, false};
  o.time.value = {0.4, 0.4};

  const std::vector<at::Tensor> dx = increments(o);

  EXPECT_TRUE(at::equal(dx[0][0], dx[1][0]));
  EXPECT_TRUE(at::equal(dx[0][0], dx[2][0]));
  EXPECT_FALSE(at::equal(dx[0][1], dx[1][1]));
  EXPECT_FALSE(at::equal(dx[1][1], dx[2][1]));
}

TEST_P(DepthTime, ConstantIsTheValueOfTheNodeThere) {
  ModelOptions o = options();
  const std::vector<at::Tensor> layered = increments(o);
  o.time.constant.assign(2, true);
  o.time.value.assign(2, 1.0);  // the right node of the last layer

  EXPECT_TRUE(at::equal(increments(o)[0], layered.back()));
}

TEST_P(DepthTime, OneLayerIsTheBlockAtTheEndOfDepth) {
  ModelOptions deep = options();
  deep.init.residual_scaling.assign(2, false);  // out and down start by 1/sqrt(2L)
  ModelOptions o = deep;
  o.layers = 1;

  // A product with one row and one with three may round differently.
  EXPECT_TRUE(at::allclose(increments(o)[0], increments(deep).back(), 1e-5, 1e-6));
}

INSTANTIATE_TEST_SUITE_P(Families, DepthTime, ::testing::ValuesIn(timed_cases()),
                         [](const auto& p) { return p.param.name; });

}  // namespace controls_test
}  // namespace depthgrid::testing
