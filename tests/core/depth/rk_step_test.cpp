#include "core/depth/rk_step.hpp"

#include <vector>

#include <gtest/gtest.h>

#include <torch/types.h>

#include "core/depth/integrator.hpp"

namespace depthgrid {
namespace rk_step_test {

/// dx/dt = u x, with a u of one axis.
class SteeredField final : public VectorField {
 public:
  FieldValue evaluate(const at::Tensor& x, const DepthPoint&, const Control& u) const override {
    return {u.u * x, {}};
  }
};

at::Tensor ones(std::int64_t tokens) {
  return torch::ones({2, 3, tokens, 1}, at::kDouble);
}

TEST(Control, ReachesTheFieldTokenByToken) {
  const Control u{torch::randn({2, 3, 5, 1}, at::kDouble)};

  const at::Tensor x =
      DepthIntegrator(kEuler).solve(SteeredField(), flow_grid(2, 4, at::kDouble), ones(5), u);

  EXPECT_TRUE(torch::allclose(x, (1 + u.u / 4).pow(4), 1e-14, 0));
}

TEST(Control, PieceIsTheTokensThatComeAndAConstantIsTheSameForAll) {
  const Control u{torch::randn({2, 3, 5, 1})}, constant{torch::randn({2, 1, 1, 1})};

  EXPECT_TRUE(torch::equal(u.piece(1, 3).u, u.u.narrow(2, 1, 3)));
  EXPECT_TRUE(torch::equal(constant.piece(4, 1).u, constant.u));
  EXPECT_FALSE(Control{}.piece(0, 2).u.defined());
}

TEST(DepthSegment, RunsCarryTheirFieldAndMethodFromOneToTheNext) {
  std::vector<DepthSegment> whole;
  for (const char* method : {"euler", "midpoint", "rk4"}) {
    whole.push_back(
        fixed_run(stepper(method), flow_grid(2, 1, at::kDouble), std::make_unique<SteeredField>()));
  }
  const Control u{torch::randn({2, 3, 5, 1}, at::kDouble)};
  const at::Tensor& z = u.u;

  at::Tensor x = ones(5);
  for (const DepthSegment& s : whole) x = s.method->solve(*s.field, s.grid, x, u);

  const at::Tensor second = 1 + z + z.pow(2) / 2;
  const at::Tensor fourth = second + z.pow(3) / 6 + z.pow(4) / 24;
  EXPECT_TRUE(torch::allclose(x, (1 + z) * second * fourth, 1e-13, 1e-14));
}

TEST(RkStep, LocalErrorIsTheDistanceToTheEmbeddedMethod) {
  const double h = 0.1;
  const at::Tensor length = torch::full({2}, h, at::kDouble);
  const DepthPoint at{torch::zeros({2}, at::kDouble), length};
  const Control u{ones(1)};

  const RkStep step = rk_step(kBosh3, SteeredField(), ones(1), at, length, u);

  const double k2 = 1 + h / 2, k3 = 1 + 0.75 * h * k2;
  const double third = 1 + h * (2 * 1 + 3 * k2 + 4 * k3) / 9;
  const double second = 1 + h * (7.0 / 24 + k2 / 4 + k3 / 3 + third / 8);
  EXPECT_NEAR(step.x[0][0][0][0].item<double>(), third, 1e-15);
  EXPECT_NEAR(local_error(kBosh3, length, step.k)[1][2][0][0].item<double>(), third - second,
              1e-16);
}

TEST(RkStep, OneStepOnALinearFieldIsTheMethodsStabilityPolynomial) {
  const Control u{torch::linspace(-1, 1, 6, at::kDouble).view({2, 3, 1, 1})};
  const at::Tensor length = torch::tensor({0.5, 0.25}, at::kDouble);
  const DepthPoint at{torch::zeros({2}, at::kDouble), length};
  const at::Tensor z = u.u * length.view({2, 1, 1, 1});

  at::Tensor polynomial = 1 + z;  // 1 + z + z^2 / 2 + ...
  const auto step = [&](const Tableau& method) {
    return rk_step(method, SteeredField(), ones(1), at, length, u).x;
  };
  EXPECT_TRUE(torch::allclose(step(kEuler), polynomial, 0, 1e-15));
  polynomial = polynomial + z.pow(2) / 2;
  EXPECT_TRUE(torch::allclose(step(kMidpoint), polynomial, 0, 1e-15));
  EXPECT_TRUE(torch::allclose(step(kHeun), polynomial, 0, 1e-15));
  polynomial = polynomial + z.pow(3) / 6;
  EXPECT_TRUE(torch::allclose(step(kBosh3), polynomial, 0, 1e-15));
  polynomial = polynomial + z.pow(4) / 24;
  EXPECT_TRUE(torch::allclose(step(kRk4), polynomial, 0, 1e-15));
  EXPECT_TRUE(torch::allclose(step(kRk438), polynomial, 0, 1e-15));
}

TEST(RkStep, KeepsTheSlopesAndTheFirstStagesGate) {
  class Gated final : public VectorField {
   public:
    FieldValue evaluate(const at::Tensor& x, const DepthPoint& at, const Control&) const override {
      return {x + static_cast<double>(at.stage), torch::full_like(x, at.stage)};
    }
  };
  const at::Tensor length = torch::full({2}, 0.5, at::kDouble);
  const DepthPoint at{torch::zeros({2}, at::kDouble), length};

  const RkStep step = rk_step(kHeun, Gated(), ones(1), at, length, {});

  ASSERT_EQ(step.k.size(), 2U);
  EXPECT_TRUE(step.k[0].eq(1).all().item<bool>());    // x = 1, stage 0
  EXPECT_TRUE(step.k[1].eq(2.5).all().item<bool>());  // x = 1 + 0.5, stage 1
  EXPECT_TRUE(step.x.eq(1.875).all().item<bool>());   // 1 + 0.5 (1 + 2.5) / 2
  EXPECT_TRUE(step.gate.eq(0).all().item<bool>());
}

}  // namespace rk_step_test
}  // namespace depthgrid
