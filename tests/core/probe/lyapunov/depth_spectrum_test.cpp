#include "core/probe/lyapunov/depth_spectrum.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include <ATen/TensorOperators.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/zeros.h>

#include "core/probe/lyapunov/finite_time.hpp"
#include "tests/core/probe/lyapunov/toy_maps.hpp"
#include "tests/support/verdict.hpp"

namespace depthgrid::testing {
namespace depth_spectrum_test {

/// Rates of every layer, (layers, E, B, M).
at::Tensor through(const CausalToy& toy, at::Tensor x, at::Tensor frame) {
  std::vector<at::Tensor> rates;
  for (std::size_t l = 0; l < toy.own.size(); ++l) {
    const TangentMap step([&](const at::Tensor& y) { return toy.layer(l, y); }, x);
    rates.push_back(advance_frame(step, frame));
    x = step.value();
  }
  return at::stack(rates);
}

TEST(FrameRates, FromTheRightSingularVectorsSumToTheStretches) {
  const CausalToy toy(5, 6, {3, 4});
  const at::Tensor x = seeded({2, 4, 6}, {1, 2}, 1);
  const Stretches exact = largest_stretches(TangentMap(toy, x), {.exponents = 24});

  const at::Tensor few = through(toy, x, exact.directions.narrow(2, 0, 3)).sum(0);
  const at::Tensor plain =
      through(toy, x, at::eye(24, at::kDouble).narrow(0, 0, 3).expand({2, 2, 3, 24})).sum(0);

  EXPECT_LT((few - exact.log_stretch.narrow(2, 0, 3)).abs().max().item<double>(), 1e-8);
  EXPECT_LT(plain.max().item<double>(), exact.log_stretch.max().item<double>() - 0.1);
}

TEST(FrameRates, ACellThatIsNotFiniteLeavesItsNeighboursAlone) {
  const CausalToy toy(3, 6, {3, 4});
  const at::Tensor x = seeded({2, 4, 6}, {1, 2}, 1);
  const at::Tensor frame = at::eye(24, at::kDouble).narrow(0, 0, 3).expand({2, 2, 3, 24});
  const at::Tensor sound = through(toy, x, frame);
  toy.own[1][1].fill_(std::nan(""));

  const at::Tensor found = through(toy, x, frame);

  EXPECT_TRUE(at::equal(found.select(1, 0), sound.select(1, 0)));
  EXPECT_TRUE(found.select(1, 1).narrow(0, 1, 2).isnan().all().item<bool>());
}

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

}  // namespace depth_spectrum_test
}  // namespace depthgrid::testing
