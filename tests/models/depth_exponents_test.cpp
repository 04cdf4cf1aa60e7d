// Exponents of the depth of transformers, against the dense Jacobian.
#include <cmath>

#include <gtest/gtest.h>

#include <ATen/TensorOperators.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/linalg_slogdet.h>
#include <ATen/ops/linalg_svdvals.h>
#include <ATen/ops/triu.h>

#include "core/probe/lyapunov/finite_time.hpp"
#include "core/probe/lyapunov/frame_rates.hpp"
#include "tests/core/probe/lyapunov/toy_maps.hpp"
#include "tests/support/model_depth.hpp"

namespace depthgrid::testing {
namespace depth_exponents_test {

constexpr std::int64_t kTokens = 4;

class DepthExponents : public ::testing::TestWithParam<const char*> {
 protected:
  const ModelDepth depth_{{"", GetParam(), [](ModelOptions&) {}}, at::kDouble, 1, 1, kTokens};
  const at::Tensor start_ = depth_.start();
  const at::Tensor jacobian_ = dense_jacobian(depth_.map(true), start_);
};

TEST_P(DepthExponents, IterationsFindTheStretchesOfTheDenseJacobian) {
  const at::Tensor exact = at::linalg_svdvals(jacobian_).log();
  const Stretches found =
      largest_stretches(TangentMap(depth_.map(true), start_),
                        {.exponents = 4, .oversampling = 20, .iterations = 16, .tolerance = 1e-7});
  EXPECT_LT((found.log_stretch[0][0] - exact.narrow(0, 0, 4)).abs().max().item<double>(), 1e-5);
}

TEST_P(DepthExponents, AFullFrameSumsToTheDeterminant) {
  const std::int64_t n = jacobian_.size(0);
  at::Tensor frame = at::eye(n, at::kDouble).view({1, 1, n, n}), x = start_;
  double sum = 0;
  for (std::int64_t l = 0; l < depth_.built().options.depth_steps(); ++l) {
    const TangentMap step(depth_.map(true, l), x);
    sum += advance_frame(step, frame).sum().item<double>();
    x = step.value();
  }
  EXPECT_NEAR(sum, std::get<1>(at::linalg_slogdet(jacobian_)).item<double>(), 1e-8);
}

TEST_P(DepthExponents, NoTokenMovesThoseBeforeIt) {
  const std::int64_t width = jacobian_.size(0) / kTokens;
  const at::Tensor blocks = jacobian_.view({kTokens, width, kTokens, width}).abs().amax({1, 3});
  EXPECT_EQ(at::triu(blocks, 1).abs().max().item<double>(), 0);
  EXPECT_GT(blocks.diagonal(-1).min().item<double>(), 0);
}

TEST_P(DepthExponents, APerturbationAlongTheFirstDirectionGrowsAsMuch) {
  const Stretches found = largest_stretches(TangentMap(depth_.map(true), start_),
                                            {.exponents = 1, .oversampling = jacobian_.size(0)});
  const at::NoGradGuard no_grad;
  const at::Tensor small = found.directions[0][0][0].view(start_.sizes()) * 1e-6;
  const at::Tensor moved = depth_.run(start_ + small, true) - depth_.run(start_, true);
  const double growth = (moved.norm() / small.norm()).log().item<double>();
  EXPECT_NEAR(growth, found.log_stretch[0][0][0].item<double>(), 1e-4);
}

INSTANTIATE_TEST_SUITE_P(Families, DepthExponents,
                         ::testing::Values("standard", "tong", "time_indexed", "hybrid_ode", "tdt",
                                           "mod"),
                         [](const auto& p) { return std::string(p.param); });

}  // namespace depth_exponents_test
}  // namespace depthgrid::testing
