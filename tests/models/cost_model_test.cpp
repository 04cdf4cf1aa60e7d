#include "models/cost_model.hpp"

#include <gtest/gtest.h>

#include "core/config/cell_config.hpp"
#include "models/model.hpp"
#include "tests/support/model_cases.hpp"

namespace depthgrid::testing {
namespace {

ModelOptions preset(const char* name) {
  const CellConfig config = make_config({{"model.preset", name}});
  return model_options({&config});
}

std::int64_t effective(const ModelOptions& o) {
  ParameterLayout layout;
  Model(layout, o);
  return effective_parameters(o, layout);
}

TEST(CostModel, APlainGptIsItsProducts) {
  const double d = 256, t = 128, layers = 6, v = 256;

  EXPECT_EQ(flops_per_token(preset("gpt"), 8, 128),
            2 * (layers * (12 * d * d + 2 * t * d) + v * d));
}

TEST(CostModel, GeneratingIsSharedOutAmongTheTokensOfAPass) {
  const double plain = flops_per_token(preset("gpt"), 8, 128);
  const ModelOptions tong = preset("published/tong");
  const double entries = 12 * 256 * 256 + 9 * 256;  // of one depth; six of them, 64 products each

  EXPECT_DOUBLE_EQ(flops_per_token(tong, 8, 128) - plain, 2.0 * 6 * 64 * entries / 1024);
  EXPECT_DOUBLE_EQ(flops_per_token(tong, 16, 128) - plain, 2.0 * 6 * 64 * entries / 2048);
  EXPECT_DOUBLE_EQ(flops_per_token(preset("published/standard"), 8, 128),
                   flops_per_token(tong, 8, 128));
}

TEST(CostModel, ActivationsOfTongHoldItsWeightsOnce) {
  const ModelOptions tong = preset("published/tong");
  const double one = activation_bytes(tong, 1, 128), two = activation_bytes(tong, 2, 128);
  const double weights = 4.0 * 2 * 6 * (12 * 256 * 256 + 9 * 256);

  EXPECT_DOUBLE_EQ(2 * one - two, weights);
}

TEST(CostModel, TheUnrolledNetworkOfGeneratedWeightsIsAnOrdinaryOne) {
  ModelOptions tong = small_options("tong");
  ModelOptions plain = small_options("standard");
  plain.layers = tong.layers = 5;

  EXPECT_EQ(effective(tong), effective(plain));
  tong.hypernet.per_layer = true;
  EXPECT_EQ(effective(tong), effective(plain));
  tong.hypernet.per_layer = false;
  tong.hypernet.generate_bias = false;
  EXPECT_EQ(effective(tong), effective(plain));
}

TEST(CostModel, ASharedBlockCountsOnceALayer) {
  ModelOptions shared = small_options("time_indexed");
  shared.modulation.gate = GateKind::Constant;

  EXPECT_EQ(effective(shared), effective(small_options("standard")));
}

TEST(CostModel, SharedLayersUnrollToSeparateOnesAtTheSameCost) {
  const ModelOptions separate = small_options("standard");
  for (const Share share : {Share::All, Share::Attention, Share::FeedForward}) {
    ModelOptions shared = separate;
    shared.share = share;

    EXPECT_EQ(effective(shared), effective(separate));
    EXPECT_EQ(flops_per_token(shared, 4, 9), flops_per_token(separate, 4, 9));
    EXPECT_EQ(activation_bytes(shared, 4, 9), activation_bytes(separate, 4, 9));
  }
}

/// Forward operations a token of the sizes at which the second study times its models.
double timed(const char* kind, std::int64_t layers) {
  ModelOptions o = small_options(*kind == 0 ? "standard" : "hybrid_ode");
  o.width = 256;
  o.heads = 4;
  o.layers = layers;
  o.hidden = 1024;
  o.vocabulary = 33278;
  o.flow.first = 2;
  o.flow.last = *kind == 0 ? 2 : 4;
  o.flow.steps = 4;
  o.flow.hidden = 1024;
  if (std::string_view(kind) == "mlp") {
    with_mlp_field(o);
    o.flow.hidden = 512;
  }
  return flops_per_token(o, 32, 32);
}

TEST(CostModel, HybridsCostWhatTheSecondStudyCounts) {
  EXPECT_NEAR(timed("", 6), 26.67e6, 0.01 * 26.67e6);
  EXPECT_NEAR(timed("attention", 6), 29.88e6, 0.01 * 29.88e6);
  EXPECT_NEAR(timed("mlp", 6), 25.57e6, 0.01 * 25.57e6);
  EXPECT_NEAR(timed("", 4), 23.46e6, 0.01 * 23.46e6);
}

TEST(CostModel, AFlowCostsItsEvaluations) {
  ModelOptions o = small_options("hybrid_ode");
  const auto flow = [&](std::int64_t steps, const Tableau& method) {
    o.flow.steps = steps;
    o.flow.method = &method;
    return flops_per_token(o, 2, 9);
  };
  const double one = flow(2, kEuler) - flow(1, kEuler);

  EXPECT_DOUBLE_EQ(flow(7, kEuler) - flow(1, kEuler), 6 * one);
  EXPECT_DOUBLE_EQ(flow(2, kRk4), flow(8, kEuler));
  EXPECT_DOUBLE_EQ(flow(3, kMidpoint), flow(6, kEuler));
}

TEST(CostModel, ATiedBlockUnrollsToSeparateOnes) {
  ModelOptions tied = small_options("hybrid_ode");
  tied.flow.field = FieldKind::Block;  // two layers and one block, three times
  ModelOptions plain = small_options("standard");
  plain.layers = 5;

  EXPECT_EQ(effective(tied), effective(plain));
  EXPECT_DOUBLE_EQ(flops_per_token(tied, 2, 9), flops_per_token(plain, 2, 9));
  EXPECT_DOUBLE_EQ(activation_bytes(tied, 2, 9), activation_bytes(plain, 2, 9));
}

}  // namespace
}  // namespace depthgrid::testing
