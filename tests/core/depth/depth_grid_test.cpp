#include "core/depth/depth_grid.hpp"

#include <gtest/gtest.h>

#include <torch/types.h>

namespace depthgrid {
namespace depth_grid_test {

TEST(DepthGrid, LayersHaveTheirNodesAndFlowsTheirs) {
  const at::Tensor scale = torch::tensor({{0.5}, {1.0}}, at::kDouble);

  const DepthGrid layers = layer_grid({Nodes::Right, Nodes::Left}, 4, scale);
  const DepthGrid flow = flow_grid(2, 4, at::kDouble);

  const at::Tensor left = torch::tensor({0.0, 0.25, 0.5, 0.75}, at::kDouble);
  EXPECT_TRUE(torch::equal(layers.t[0], left + 0.25));
  EXPECT_TRUE(torch::equal(layers.t[1], left));
  EXPECT_TRUE(torch::equal(layers.h, scale.expand({2, 4})));
  EXPECT_FALSE(layers.span.defined());
  EXPECT_TRUE(torch::equal(flow.t[1], left));
  EXPECT_TRUE(flow.h.eq(0.25).all().item<bool>());
}

TEST(DepthGrid, LeftNodesLeaveRoomForStagesOfOneNodesDistance) {
  const DepthGrid grid = layer_grid({Nodes::Left, Nodes::Left}, 5, torch::full({2, 1}, 0.7));

  EXPECT_EQ(grid.steps(), 5);
  EXPECT_TRUE(torch::equal(grid.span, torch::full({2, 5}, 0.2)));
}

TEST(DepthGrid, APieceIsAViewWhoseStepsCountFromTheWholesStart) {
  const DepthGrid whole = flow_grid(2, 8, at::kDouble);

  const DepthGrid piece = whole.piece(3, 4, 10);
  const DepthPoint second = piece.at(1);

  EXPECT_EQ(piece.steps(), 4);
  EXPECT_EQ(second.step, 11);
  EXPECT_TRUE(second.t.eq(4.0 / 8).all().item<bool>());
  EXPECT_TRUE(piece.h.is_alias_of(whole.h));
  EXPECT_FALSE(layer_grid({Nodes::Right}, 3, torch::ones({1, 1})).piece(1, 2, 0).span.defined());
}

TEST(DepthGrid, ALearnedScaleStaysInTheGraph) {
  const at::Tensor scale = torch::full({1, 1}, 0.5).requires_grad_(true);

  layer_grid({Nodes::Right}, 3, scale).at(2).h.sum().backward();

  EXPECT_EQ(scale.grad().item<float>(), 1);
}

}  // namespace depth_grid_test
}  // namespace depthgrid
