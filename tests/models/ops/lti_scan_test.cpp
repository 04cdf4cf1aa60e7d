#include "models/ops/lti_scan.hpp"

#include <gtest/gtest.h>

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/linalg_matrix_norm.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/stack.h>
#include <torch/csrc/autograd/autograd.h>

#include "core/base/error.hpp"
#include "tests/support/gradient_check.hpp"

namespace depthgrid::testing {
namespace lti_scan_test {

/// The recurrence, one token after the other, in ATen's operations that autograd knows.
at::Tensor token_by_token(const at::Tensor& a, const at::Tensor& u) {
  std::vector<at::Tensor> rows;
  for (std::int64_t t = 0; t < u.size(2); ++t) {
    at::Tensor h = u.select(2, t);  // (E, B, N)
    if (t > 0) {
      h = h +
          (a.dim() == 3 ? at::bmm(rows.back(), a.transpose(1, 2)) : rows.back() * a.unsqueeze(1));
    }
    rows.push_back(h);
  }
  return at::stack(rows, 2);
}

struct ScanCase {
  std::string name;
  bool dense;
  ScanMethod method;
};

class LtiScan : public ::testing::TestWithParam<ScanCase> {
 protected:
  /// Stable transitions: entries or norms up to one, both signs.
  at::Tensor transition(std::int64_t cells, std::int64_t states) const {
    if (!GetParam().dense) return at::rand({cells, states}, at::kDouble) * 2 - 1;
    const at::Tensor a = at::randn({cells, states, states}, at::kDouble);
    return a * (0.99 / at::linalg_matrix_norm(a, 2, {-2, -1}, /*keepdim=*/true));
  }
  at::Tensor scan(const at::Tensor& a, const at::Tensor& u) const {
    return lti_scan(a, u, GetParam().method);
  }
};

double largest(const at::Tensor& x) {
  return x.abs().max().item<double>();
}

TEST_P(LtiScan, IsTheRecurrenceForwardAndBackwardInBothPrecisions) {
  for (const std::int64_t states : {1, 3, 32, 37, 64}) {
    for (const std::int64_t tokens : {1, 2, 7, 64, 100}) {
      const at::Tensor a = transition(2, states),
                       u = at::randn({2, 3, tokens, states}, at::kDouble);
      const at::Tensor dh = at::randn(u.sizes(), at::kDouble);
      at::Tensor want_a = a.clone().requires_grad_(), want_u = u.clone().requires_grad_();
      const at::Tensor want = token_by_token(want_a, want_u);
      torch::autograd::backward({want}, {dh});
      for (const at::ScalarType type : {at::kDouble, at::kFloat}) {
        at::Tensor our_a = a.to(type).detach().requires_grad_();
        at::Tensor our_u = u.to(type).detach().requires_grad_();
        const at::Tensor ours = scan(our_a, our_u);
        torch::autograd::backward({ours}, {dh.to(type)});
        const double tolerance = type == at::kDouble ? 1e-10 : 1e-5;
        const auto relative = [](const at::Tensor& got, const at::Tensor& wanted) {
          return largest(got.to(at::kDouble) - wanted) / (1 + largest(wanted));
        };
        EXPECT_LT(relative(ours, want), tolerance) << states << " x " << tokens;
        EXPECT_LT(relative(our_u.grad(), want_u.grad()), tolerance) << states << " x " << tokens;
        const at::Tensor dense_a =
            tokens == 1 ? a * 0 : want_a.grad();  // of one token no gradient reaches A
        EXPECT_LT(relative(our_a.grad(), dense_a), tolerance) << states << " x " << tokens;
      }
    }
  }
}

TEST_P(LtiScan, GradientsMatchCentralDifferences) {
  const at::Tensor a = transition(2, 3), u = at::randn({2, 2, 6, 3}, at::kDouble);

  EXPECT_LT(gradient_error([&](const at::Tensor& v) { return scan(v, u); }, a), 1e-6);
  EXPECT_LT(gradient_error([&](const at::Tensor& v) { return scan(a, v); }, u), 1e-6);
}

TEST_P(LtiScan, DoesNotLookAhead) {
  const at::Tensor a = transition(1, 5).to(at::kFloat), u = at::randn({1, 2, 20, 5}, at::kFloat);
  at::Tensor changed = u.clone();
  changed.narrow(2, 11, 9).add_(1);

  EXPECT_TRUE(scan(a, u).narrow(2, 0, 11).equal(scan(a, changed).narrow(2, 0, 11)));
}

TEST_P(LtiScan, ACellsBitsDoNotDependOnNeighboursOrThreads) {
  if (GetParam().method == ScanMethod::Doubling) GTEST_SKIP() << "promised of the kernel only";
  const at::Tensor a = transition(4, 37).to(at::kFloat), u = at::randn({4, 3, 50, 37}, at::kFloat);
  const at::Tensor dh = at::randn(u.sizes(), at::kFloat);
  const auto run = [&](std::int64_t first, std::int64_t cells, at::Tensor* da) {
    at::Tensor mine = a.narrow(0, first, cells).clone().requires_grad_();
    const at::Tensor h = scan(mine, u.narrow(0, first, cells));
    torch::autograd::backward({h}, {dh.narrow(0, first, cells)});
    *da = mine.grad();
    return h.detach();
  };
  at::set_num_threads(1);
  at::Tensor da, da_alone, da_threads;
  const at::Tensor fused = run(0, 4, &da);
  for (std::int64_t e = 0; e < 4; ++e) {
    EXPECT_TRUE(run(e, 1, &da_alone).squeeze(0).equal(fused[e]));
    EXPECT_TRUE(da_alone.squeeze(0).equal(da[e]));
  }
  at::set_num_threads(2);
  EXPECT_TRUE(run(0, 4, &da_threads).equal(fused));
  EXPECT_TRUE(da_threads.equal(da));
  at::set_num_threads(1);
}

INSTANTIATE_TEST_SUITE_P(Ways, LtiScan,
                         ::testing::Values(ScanCase{"diagonal_kernel", false, ScanMethod::Kernel},
                                           ScanCase{"diagonal_doubling", false,
                                                    ScanMethod::Doubling},
                                           ScanCase{"dense_kernel", true, ScanMethod::Kernel},
                                           ScanCase{"dense_doubling", true, ScanMethod::Doubling}),
                         [](const auto& p) { return p.param.name; });

TEST(LtiScanArguments, DifferentTypesOrStatesAreRefused) {
  const at::Tensor u = at::randn({1, 1, 2, 3}, at::kFloat);

  EXPECT_THROW(lti_scan(at::randn({1, 3}, at::kDouble), u), ShapeError);
  EXPECT_THROW(lti_scan(at::randn({1, 4}, at::kFloat), u), ShapeError);
}

}  // namespace lti_scan_test
}  // namespace depthgrid::testing
