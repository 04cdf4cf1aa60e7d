#include <gtest/gtest.h>

#include "core/config/cell_config.hpp"
#include "models/closed_form.hpp"
#include "models/model.hpp"
#include "tests/support/model_cases.hpp"

namespace depthgrid::testing {
namespace counts_test {

std::int64_t count(const ModelOptions& o) {
  ParameterLayout layout;
  Model(layout, o);
  return layout.size();
}

ModelOptions study_size(const std::string& family) {
  ModelOptions o = small_options(family);
  o.width = 256;
  o.heads = 4;
  o.layers = 6;
  o.hidden = 1024;
  o.vocabulary = 256;
  o.max_tokens = 128;
  o.temporal_hidden = 64;
  o.time.frequencies = 32;
  o.modulation.hidden = 64;
  return o;
}

TEST(ParameterCounts, PlainGptOfTheStudyHas4902912) {
  const std::int64_t d = 256, layers = 6, v = 256, t = 128;

  EXPECT_EQ(count(study_size("standard")),
            layers * (12 * d * d + 13 * d) + 2 * d + 2 * v * d + t * d);
  EXPECT_EQ(count(study_size("standard")), 4902912);
}

TEST(ParameterCounts, PublishedTimeIndexedMlpHas715840) {
  ModelOptions o = study_size("time_indexed");
  for (const ModelCase& c : model_cases()) {
    if (c.name == "time_indexed_published") c.change(o);
  }
  o.hidden = 256;

  EXPECT_EQ(count(o), 715840);
}

std::int64_t preset_count(const char* preset) {
  const CellConfig config = make_config({{"model.preset", preset}});
  return count(model_options({&config}));
}

/// A map i -> o of the published program: two affine maps of time, a generator with a bias, and a
/// generator of the bias.
std::int64_t temporal_linear(std::int64_t i, std::int64_t o) {
  const std::int64_t s = 65, e = 64;
  return s * e + e + e * e + e + (e + 1) * i * o + e * o;
}

std::int64_t temporal_norm(std::int64_t d) {
  const std::int64_t s = 65, e = 64;
  return s * e + e + e * e + e + 2 * e * d;
}

std::int64_t generated_block(std::int64_t d) {
  return temporal_linear(d, 3 * d) + temporal_linear(d, d) + temporal_linear(d, 4 * d) +
         temporal_linear(4 * d, d) + 2 * temporal_norm(d);
}

TEST(ParameterCounts, PublishedTongHas51512960) {
  const std::int64_t d = 256, v = 256;

  EXPECT_EQ(preset_count("published/tong"), generated_block(d) + 2 * d + 2 * v * d);
  EXPECT_EQ(preset_count("published/tong"), 51512960);
}

TEST(ParameterCounts, PublishedStandardHasSixGeneratedBlocks) {
  const std::int64_t d = 256, v = 256;

  EXPECT_EQ(preset_count("published/standard"),
            6 * generated_block(d) + temporal_norm(d) + 2 * v * d);
  EXPECT_EQ(preset_count("published/standard"), 308460480);
}

TEST(ParameterCounts, TongByTheTextDoesNotDependOnDepth) {
  // Six matrices and their biases, each with a network of its own; 2K features.
  const std::int64_t d = 256, v = 256, t = 128, f = 64, h = 64;
  const std::int64_t network = f * h + h + h * h + h;
  const std::int64_t weights = 12 * d * d, biases = 9 * d;
  const std::int64_t expected =
      6 * network + (h + 1) * weights + h * biases + 4 * d + 2 * d + 2 * v * d + t * d;
  for (const std::int64_t layers : {2, 6, 12}) {
    ModelOptions o = study_size("tong");
    o.layers = layers;
    o.hypernet.hidden = h;
    o.time.include_t = false;
    EXPECT_EQ(count(o), expected) << layers << " layers";
  }
}

TEST(ParameterCounts, EveryPresetResolvesToItsCountOfTheStudy) {
  EXPECT_EQ(preset_count("gpt"), 4902912);
  EXPECT_EQ(preset_count("gpt2"), 124439808);
  EXPECT_EQ(preset_count("published/time_indexed_mlp"), 715840);
  EXPECT_EQ(preset_count("published/time_indexed_ssm"), 4901760);
}

TEST(ParameterCounts, SharedLayersCountOnce) {
  const std::int64_t d = 256, layers = 6;
  const std::int64_t outside = 2 * d + 2 * 256 * d + 128 * d;
  const std::int64_t attention = 4 * d * d + 4 * d + 2 * d;     // with the norm in front of it
  const std::int64_t feed_forward = 8 * d * d + 5 * d + 2 * d;  // likewise
  const auto shared = [](Share share) {
    ModelOptions o = study_size("standard");
    o.share = share;
    return count(o);
  };

  EXPECT_EQ(shared(Share::All), outside + attention + feed_forward);
  EXPECT_EQ(shared(Share::All), 954112);
  EXPECT_EQ(shared(Share::Attention), outside + attention + layers * feed_forward);
  EXPECT_EQ(shared(Share::Attention), 3584512);
  EXPECT_EQ(shared(Share::FeedForward), outside + layers * attention + feed_forward);
  EXPECT_EQ(shared(Share::FeedForward), 2272512);
}

TEST(ParameterCounts, Gpt2SmallAsAPresetHas124439808) {
  const std::int64_t d = 768, layers = 12, v = 50257, t = 1024;

  EXPECT_EQ(preset_count("gpt2"), layers * (12 * d * d + 13 * d) + 2 * d + v * d + t * d);
  EXPECT_EQ(preset_count("gpt2"), 124439808);
}

TEST(ParameterCounts, BaselineOfTheHybridHas30503424) {
  const std::int64_t d = 256, layers = 6, v = 50257, t = 128;

  EXPECT_EQ(preset_count("hybrid/baseline"),
            layers * (12 * d * d + 13 * d) + 2 * d + 2 * v * d + t * d);
  EXPECT_EQ(preset_count("hybrid/baseline"), 30503424);
}

TEST(ParameterCounts, HybridHas29781249) {
  const std::int64_t d = 256, v = 50257, t = 128, block = 12 * d * d + 13 * d;
  const std::int64_t flow = block + (2 * d + d * d + d) + (4 * d + d) + 1;

  EXPECT_EQ(flow, 857345);
  EXPECT_EQ(preset_count("hybrid/ode"), 2 * v * d + t * d + 4 * block + flow + 2 * d);
  EXPECT_EQ(preset_count("hybrid/ode"), 29781249);
}

TEST(ParameterCounts, HybridWithoutAttentionInItsFieldHas20471041) {
  const auto count_of = [](ValueMap leaves) {
    leaves.insert(leaves.end(), {{"model.max_seq_len", 32},
                                 {"model.vocab_size", 33278},
                                 {"data.seq_len", 32},
                                 {"data.tokenizer", "word"},
                                 {"data.vocab_size", 33278}});
    const CellConfig config = make_config(leaves);
    return count(model_options({&config}));
  };
  const std::int64_t baseline = count_of({{"model.preset", "hybrid/baseline"}});
  const std::int64_t hybrid = count_of(
      {{"model.family", "hybrid_ode"}, {"model.field.kind", "mlp"}, {"model.control.dim", 4}});

  EXPECT_EQ(baseline, 21785600);
  EXPECT_EQ(hybrid, 20471041);
  EXPECT_EQ(baseline - hybrid, 2 * 789760 - 264961);
}

TEST(ParameterCounts, HybridsOfOtherSizesHaveTheClosedForm) {
  struct Size {
    std::int64_t v, d, layers, first, last, c, t;
  };
  for (const Size s : {Size{61, 32, 5, 1, 4, 2, 17}, Size{300, 64, 24, 8, 16, 1, 40},
                       Size{1000, 128, 3, 0, 1, 6, 9}, Size{17, 16, 2, 0, 2, 3, 5}}) {
    ModelOptions o = small_options("hybrid_ode");
    o.vocabulary = s.v;
    o.width = s.d;
    o.hidden = o.flow.hidden = 4 * s.d;
    o.layers = s.layers;
    o.flow.first = s.first;
    o.flow.last = s.last;
    with_control(o, s.c);
    o.control.bias = true;
    o.max_tokens = s.t;
    const std::int64_t block = 12 * s.d * s.d + 13 * s.d;
    EXPECT_EQ(count(o), 2 * s.v * s.d + s.t * s.d + (s.layers - s.last + s.first) * block +
                            2 * s.d + block + s.d * s.d + (s.c + 4) * s.d + 1);
  }
}

TEST(ParameterCounts, PublishedTimeIndexedSsmHas4901760) {
  ModelOptions o = study_size("time_indexed");
  for (const ModelCase& c : model_cases()) {
    if (c.name == "time_indexed_ssm_published") c.change(o);
  }
  o.ssm.states = 64;
  o.ssm.generator = 64;

  EXPECT_EQ(count(o), 4901760);
}

TEST(ParameterCounts, SharedStateSpaceByTheText) {
  const std::int64_t d = 256, n = 64, hidden = 64, features = 65;
  const std::int64_t network = hidden * features + hidden;  // in front of each gate's last map
  const auto rows = [&](std::int64_t r) { return network + r * hidden + r; };
  ModelOptions o = study_size("time_indexed");
  with_state_space(o);
  o.ssm.states = n;
  ModelOptions bare = o;
  bare.modulation.gate = GateKind::Constant;
  ModelOptions text = o;
  text.ssm.dense = text.ssm.element = true;
  text.ssm.skip = SsmSkip::Full;
  ModelOptions plain = text;
  plain.modulation.gate = GateKind::Constant;
  ModelOptions raw = bare;
  raw.ssm.discretisation = Discretisation::None;

  // Gates of attention (four of d rows), of A and B (n rows), of C and D (d rows).
  EXPECT_EQ(count(o) - count(bare), 4 * rows(d) + 2 * rows(n) + 2 * rows(d));
  EXPECT_EQ(count(bare) - count(raw), rows(n));  // Δ
  EXPECT_EQ(count(plain) - count(bare), n * n - n + d * d - d);
  EXPECT_EQ(count(text) - count(plain), 4 * rows(d) + rows(n * n) + 2 * rows(n * d) + rows(d * d));
  const std::int64_t block = 4 * d * d + 4 * d + 4 * d;  // attention and two norms
  EXPECT_EQ(count(raw), 2 * 256 * d + 128 * d + 2 * d + block + n + 2 * n * d + d);
}

TEST(ParameterCounts, TiedHeadOfGpt2SmallGives124439808) {
  ModelOptions o = study_size("standard");
  o.width = 768;
  o.heads = 12;
  o.layers = 12;
  o.hidden = 3072;
  o.vocabulary = 50257;
  o.max_tokens = 1024;
  o.tie_embeddings = true;

  EXPECT_EQ(count(o), 124439808);
}

TEST(ParameterCounts, FamiliesThatSkipAddTheirRoutersToAPlainTransformer) {
  const std::int64_t d = 256, v = 256;
  const std::int64_t plain = 6 * (12 * d * d + 13 * d) + 2 * d + 2 * v * d;  // rotary positions

  // Three of six layers: a network of width 16 (d / 16), a router of 2d + 1, four scalars.
  EXPECT_EQ(preset_count("tdt/default"), plain + 3 * (3 * d * 16 + 2 * d + 1 + 4));
  EXPECT_EQ(preset_count("tdt/literal"), preset_count("tdt/default"));
  const CellConfig mod = make_config({{"model.family", "mod"}});
  EXPECT_EQ(count(model_options({&mod})), plain + 3 * (d + d * (d / 2) + d / 2 + d / 2 + 1));
}

TEST(ParameterCounts, ModulationCountsByTheText) {
  const ModelOptions gated = study_size("time_indexed");
  ModelOptions plain = gated;
  plain.modulation.gate = GateKind::Constant;
  const std::int64_t hidden = 64, features = 65, rows = 256 * 4 + 1024 + 256;

  EXPECT_EQ(count(gated) - count(plain), 6 * (hidden * features + hidden) + rows * hidden + rows);
}

class ClosedForm : public ::testing::TestWithParam<ModelCase> {};

TEST_P(ClosedForm, IsTheCountOfTheLayout) {
  ModelOptions o = small_options(GetParam().family);
  GetParam().change(o);

  EXPECT_EQ(closed_form_parameters(o), count(o));
}

INSTANTIATE_TEST_SUITE_P(EveryOption, ClosedForm, ::testing::ValuesIn(model_cases()),
                         [](const auto& p) { return p.param.name; });

}  // namespace counts_test
}  // namespace depthgrid::testing
