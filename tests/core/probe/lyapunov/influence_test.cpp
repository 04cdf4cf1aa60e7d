#include "core/probe/lyapunov/influence.hpp"

#include <gtest/gtest.h>

#include <ATen/TensorOperators.h>
#include <ATen/ops/equal.h>

#include "tests/core/probe/lyapunov/toy_maps.hpp"
#include "tests/support/verdict.hpp"

namespace depthgrid::testing {
namespace influence_test {

const DirectionDraw kDraw{.seed = 1, .use = "test", .first_sequence = 0};

TEST(Influence, IsTheSquaredNormOfTheBlocks) {
  const CausalToy toy(3, 8, {3});
  const at::Tensor x = seeded({1, 6, 8}, {1}, 1);
  const at::Tensor blocks = dense_jacobian(toy, x).view({6, 8, 6, 8}).square().sum({1, 3});

  const at::Tensor found = influence_on(TangentMap(toy, x), 5, 256, kDraw)[0][0];

  const double error = ((found - blocks[5]) / blocks[5]).abs().median().item<double>();
  verdict(30, "influence, 256 directions: median relative error of the blocks' norms", error,
          at_most(0.15));
}

TEST(Influence, FutureTokensHaveNone) {
  const CausalToy toy(3, 8, {3, 4});
  const at::Tensor x = seeded({2, 6, 8}, {1, 2}, 1);
  const at::Tensor found = influence_on(TangentMap(toy, x), 2, 4, kDraw);
  verdict(30, "influence of future tokens: largest",
          found.narrow(2, 3, 3).abs().max().item<double>(), exactly(0));
  EXPECT_GT(found.narrow(2, 0, 3).min().item<double>(), 0);
}

TEST(Influence, ACellHasTheSameBitsAloneAndFused) {
  const at::Tensor x = seeded({2, 6, 8}, {1, 2}, 1);
  const at::Tensor fused = influence_on(TangentMap(CausalToy(3, 8, {3, 4}), x), 5, 4, kDraw);
  const at::Tensor alone =
      influence_on(TangentMap(CausalToy(3, 8, {4}), x.narrow(0, 1, 1)), 5, 4, kDraw);
  EXPECT_TRUE(at::equal(fused.narrow(0, 1, 1), alone));
}

}  // namespace influence_test
}  // namespace depthgrid::testing
