#include "models/routing/transition_network.hpp"

#include <gtest/gtest.h>

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>

#include "core/train/optimizer/arena.hpp"

namespace depthgrid {
namespace transition_network_test {

double largest_prediction(const char* start) {
  const CellConfig config = make_config(
      {{"model.family", "tdt"}, {"model.d_model", 16}, {"model.tdt.tpn.output_init", start}});
  const ModelOptions o = model_options({&config});
  ParameterLayout layout;
  TransitionNetwork(layout, o, "tpn");
  Arena arena(layout, {3}, at::kFloat);
  const TransitionNetwork network(arena, o, "tpn");
  const at::Tensor x = at::arange(64, at::kFloat).sin().view({1, 1, 4, 16});
  return network.predict(o, x).abs().max().item<double>();
}

TEST(TransitionNetwork, StartsAtTheErrorOfPredictingNothingIfItsLastMatrixIsZero) {
  EXPECT_EQ(largest_prediction("zero"), 0);
  EXPECT_GT(largest_prediction("normal"), 1e-3);
  EXPECT_GT(largest_prediction("xavier"), largest_prediction("normal"));
}

}  // namespace transition_network_test
}  // namespace depthgrid
