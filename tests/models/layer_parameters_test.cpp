// Each family's parameters belong to the blocks that the store's axis `layer` names.
#include "models/layer_parameters.hpp"

#include <set>
#include <string>

#include <gtest/gtest.h>

#include "tests/support/model_cases.hpp"
#include "tests/support/toy_training.hpp"

namespace depthgrid::testing {
namespace layer_parameters_test {

class LayerParameters : public ::testing::TestWithParam<ModelCase> {};

TEST_P(LayerParameters, EveryBlockHasSomeAndOnlyWhatIsOutsideHasNone) {
  ModelOptions options = small_options(GetParam().family, 1);
  GetParam().change(options);
  const Built built(options, {3});
  std::set<std::int64_t> layers;
  for (const ParameterSlot& slot : built.arena->layout().slots()) {
    const std::string& name = slot.spec.name;
    const std::optional<std::int64_t> layer = layer_of(options, name);
    if (layer) {
      layers.insert(*layer);
    } else {
      const bool common = !options.shared() && name.starts_with("block.");
      EXPECT_TRUE(common || name.starts_with("embedding") || name.starts_with("position") ||
                  name.starts_with("head") || name.starts_with("final_norm") ||
                  name.starts_with("residual") || name.starts_with("regularisers"))
          << name;
    }
  }
  EXPECT_EQ(static_cast<std::int64_t>(layers.size()), layer_count(options));
  EXPECT_EQ(*layers.begin(), 0);
  EXPECT_EQ(*layers.rbegin(), layer_count(options) - 1);
}

INSTANTIATE_TEST_SUITE_P(Families, LayerParameters, ::testing::ValuesIn(model_cases()),
                         [](const auto& p) { return p.param.name; });

TEST(LayerParameters, AFlowIsOneBlockBetweenTheOthers) {
  ModelOptions options = small_options("hybrid_ode", 1);
  options.layers = 6;
  options.flow.first = 2;
  options.flow.last = 4;
  EXPECT_EQ(layer_count(options), 5);
  EXPECT_EQ(layer_of(options, "layers.1.attn.qkv.weight"), 1);
  EXPECT_EQ(layer_of(options, "flow.alpha"), 2);
  EXPECT_EQ(layer_of(options, "layers.4.mlp.up.bias"), 3);
  EXPECT_EQ(layer_of(options, "layers.5.mlp.up.bias"), 4);
}

}  // namespace layer_parameters_test
}  // namespace depthgrid::testing
