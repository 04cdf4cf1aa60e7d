#include "core/probe/lyapunov/lanczos.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include <ATen/TensorOperators.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/linalg_eigvalsh.h>
#include <ATen/ops/linalg_svdvals.h>

#include "tests/core/probe/lyapunov/toy_maps.hpp"

namespace depthgrid::testing {
namespace lanczos_test {

const DirectionDraw kDraw{.seed = 1, .use = "test", .first_sequence = 0};

TEST(Lanczos, IsExactAfterAsManyStepsAsDimensions) {
  const CausalToy toy(3, 4, {3});
  const at::Tensor x = seeded({1, 3, 4}, {1}, 1);
  const at::Tensor d = dense_jacobian(toy, x);
  const TangentMap map(toy, x);

  const double mu = at::linalg_eigvalsh((d + d.t()) / 2)[-1].item<double>();
  const double s = at::linalg_svdvals(d)[0].item<double>();

  EXPECT_NEAR(log_norm(map, kDraw, 12).item<double>(), mu, 1e-9);
  EXPECT_NEAR(largest_log_stretch(map, kDraw, 12).item<double>(), std::log(s), 1e-9);
  EXPECT_NEAR(log_norm(map, kDraw, 100).item<double>(), mu, 1e-9);  // ends by itself
}

TEST(Lanczos, EightStepsComeCloseFromBelow) {
  const CausalToy toy(1, 16, {3});
  const at::Tensor x = seeded({1, 16, 16}, {1}, 1);
  const at::Tensor d = dense_jacobian(toy, x);
  const TangentMap map(toy, x);

  const double mu = at::linalg_eigvalsh((d + d.t()) / 2)[-1].item<double>();
  const double s = std::log(at::linalg_svdvals(d)[0].item<double>());
  const double found_mu = log_norm(map, kDraw).item<double>();
  const double found_s = largest_log_stretch(map, kDraw).item<double>();

  EXPECT_LE(found_mu, mu + 1e-12);
  EXPECT_LE(found_s, s + 1e-12);
  EXPECT_NEAR(found_mu, mu, 0.1 * mu);
  EXPECT_NEAR(found_s, s, 0.02);
}

TEST(Lanczos, NegativeAndSingleEigenvaluesAreFound) {
  const at::Tensor x = seeded({1, 3, 4}, {1}, 1);
  const TangentMap shrinking([](const at::Tensor& y) { return y * -2; }, x);
  EXPECT_NEAR(log_norm(shrinking, kDraw).item<double>(), -2, 1e-12);
  EXPECT_NEAR(largest_log_stretch(shrinking, kDraw).item<double>(), std::log(2.0), 1e-12);
  const TangentMap rotation(
      [](const at::Tensor& y) { return at::stack({-y.select(3, 1), y.select(3, 0)}, 3); },
      seeded({1, 1, 2}, {1}, 1));
  EXPECT_NEAR(log_norm(rotation, kDraw).item<double>(), 0, 1e-12);  // turning is not growth
  const TangentMap dead([](const at::Tensor& y) { return y * 0; }, x);
  EXPECT_EQ(largest_log_stretch(dead, kDraw).item<double>(), -INFINITY);
}

TEST(Lanczos, CellsAreIndependentOfEachOther) {
  const CausalToy toy(2, 6, {3, 4, 5});
  const at::Tensor x = seeded({2, 4, 6}, {1, 2, 3}, 1);
  const at::Tensor sound = log_norm(TangentMap(toy, x), kDraw);
  const at::Tensor alone = log_norm(TangentMap(CausalToy(2, 6, {4}), x.narrow(0, 1, 1)), kDraw);
  EXPECT_TRUE(at::equal(sound.narrow(0, 1, 1), alone));
  toy.own[1][1].fill_(std::nan(""));

  const at::Tensor found = log_norm(TangentMap(toy, x), kDraw);

  EXPECT_TRUE(found[1].isnan().all().item<bool>());
  EXPECT_TRUE(at::equal(found[0], sound[0]));
  EXPECT_TRUE(at::equal(found[2], sound[2]));
}

}  // namespace lanczos_test
}  // namespace depthgrid::testing
