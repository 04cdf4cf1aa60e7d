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

}  // namespace
}  // namespace depthgrid::testing
