#include "core/probe/ssm/ssm_probe.hpp"

#include <cmath>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>
#include <ATen/ops/imag.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/real.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include "core/base/error.hpp"
#include "core/probe/ssm/transitions.hpp"
#include "tests/core/probe/fake_subject.hpp"
#include "tests/core/probe/recorded_rows.hpp"

namespace depthgrid::testing {
namespace ssm_probe_test {

/// Two depth steps whose state-space layers are given.
class GivenSystems final : public FakeSubject {
 public:
  GivenSystems(StateSpaceLayers layers, std::vector<at::Tensor> states)
      : FakeSubject(std::vector<at::Tensor>(
                        3, at::zeros({states[0].size(0), states[0].size(1), states[0].size(2), 4})),
                    at::zeros({states[0].size(0), 3}, at::kDouble)),
        layers_(std::move(layers)),
        states_(std::move(states)) {}

  StateSpaceLayers state_space() const override { return layers_; }
  std::vector<at::Tensor> state_space_states(std::int64_t first,
                                             std::int64_t count) const override {
    std::vector<at::Tensor> out;
    for (const at::Tensor& one : states_) out.push_back(one.narrow(1, first, count));
    return out;
  }

 private:
  StateSpaceLayers layers_;
  std::vector<at::Tensor> states_;
};

RecordedRows seen(const ProbeSubject& subject, std::int64_t batch = 2) {
  SsmProbe probe(subject, ProbeSchedule("end", 1), batch);
  RecordedRows out;
  probe.declare(out);
  probe.measure(1, out);
  return out;
}

TEST(Transitions, TheHorizonIsWhereTheSlowestStateFallsToOneOverE) {
  const at::Tensor radius =
      spectral_radius(at::tensor({0.2, -0.9, 0.5}, at::kDouble).view({1, 1, 3}));

  EXPECT_DOUBLE_EQ(radius.item<double>(), 0.9);
  EXPECT_NEAR(std::pow(0.9, memory_horizon(radius).item<double>()), std::exp(-1.0), 1e-12);
  EXPECT_TRUE(std::isinf(memory_horizon(at::tensor({1.25}, at::kDouble)).item<double>()));
  EXPECT_TRUE(std::isnan(memory_horizon(at::tensor({std::nan("")}, at::kDouble)).item<double>()));
}

TEST(Transitions, ARotationHasAPairOnItsCircleAndNaNHasNone) {
  at::Tensor turn =
      at::tensor({0.0, -0.8, 0.8, 0.0}, at::kDouble).view({1, 1, 2, 2}).repeat({2, 1, 1, 1});
  turn[1][0][0][0] = std::nan("");
  const at::Tensor found = transition_eigenvalues(turn), radius = spectral_radius(turn);

  EXPECT_NEAR(radius[0].item<double>(), 0.8, 1e-14);
  EXPECT_TRUE(std::isnan(radius[1].item<double>()));
  EXPECT_NEAR(at::imag(found)[0][0][0].item<double>(), 0.8, 1e-14) << "its positive one first";
  EXPECT_NEAR(at::imag(found)[0][0][1].item<double>(), -0.8, 1e-14);
  EXPECT_NEAR(at::real(found)[0][0][0].item<double>(), 0, 1e-14);
}

TEST(Transitions, EigenvaluesOfATriangularOneAreItsDiagonalByModulus) {
  const at::Tensor a = at::tensor({0.1, 0.0, 0.0, 2.0, -0.7, 0.0, 1.0, 3.0, 0.4}, at::kDouble);
  const at::Tensor found = at::real(transition_eigenvalues(a.view({1, 1, 3, 3})));

  EXPECT_NEAR(found[0][0][0].item<double>(), -0.7, 1e-12);
  EXPECT_NEAR(found[0][0][1].item<double>(), 0.4, 1e-12);
  EXPECT_NEAR(found[0][0][2].item<double>(), 0.1, 1e-12);
}

TEST(SsmProbe, WritesWhatTheSystemsAre) {
  const at::Tensor decay = at::tensor({0.5, 0.25, 0.9, 0.1}, at::kDouble).view({1, 2, 2});
  const at::Tensor delta = at::tensor({1.0, 2.0, 3.0, 4.0}, at::kDouble).view({1, 2, 2});
  const GivenSystems subject({decay, delta},
                             {at::full({1, 3, 5, 2}, 2.0), at::zeros({1, 3, 5, 2})});

  const RecordedRows out = seen(subject);

  EXPECT_EQ(out.row("ssm_delta"), (std::vector<double>{1, 2, 3, 4}));
  EXPECT_EQ(out.row("ssm_eigenvalue_real"), (std::vector<double>{0.5, 0.25, 0.9, 0.1}));
  EXPECT_EQ(out.row("ssm_eigenvalue_imag"), std::vector<double>(4, 0));
  EXPECT_EQ(out.row("ssm_spectral_radius"), (std::vector<double>{0.5, 0.9}));
  EXPECT_NEAR(out.row("ssm_memory_horizon")[0], 1 / std::log(2.0), 1e-15);
  EXPECT_EQ(out.row("ssm_state_norm"), (std::vector<double>{2, 0})) << "over three sequences";
}

TEST(SsmProbe, WithoutDiscretisationThereIsNoStep) {
  const at::Tensor a = at::full({1, 2, 3, 3}, 0.1, at::kDouble);
  const GivenSystems subject({a, {}}, std::vector<at::Tensor>(2, at::zeros({1, 1, 2, 3})));

  const RecordedRows out = seen(subject);

  for (const SeriesSpec& one : out.series) EXPECT_NE(one.name, "ssm_delta");
  EXPECT_NEAR(out.row("ssm_spectral_radius")[1], 0.3, 1e-12);
}

/// A cell's bits are those it has alone, and a diverged neighbour's are NaN.
TEST(SsmProbe, FusedIsAloneAndADivergedCellHarmsNobody) {
  at::Tensor a = at::randn({3, 2, 5, 5}, at::kDouble) * 0.2;
  std::vector<at::Tensor> states = {at::randn({3, 3, 7, 5}), at::randn({3, 3, 7, 5})};
  const auto alone = [&](std::int64_t e) {
    return seen(GivenSystems({a.narrow(0, e, 1), {}},
                             {states[0].narrow(0, e, 1), states[1].narrow(0, e, 1)}));
  };
  const RecordedRows first = alone(0), last = alone(2);
  a[1].fill_(std::nan(""));
  states[1][1].fill_(std::nan(""));

  const RecordedRows out = seen(GivenSystems({a, {}}, states));

  for (const SeriesSpec& one : out.series) {
    EXPECT_EQ(out.row(one.name, 0), first.row(one.name)) << one.name;
    EXPECT_EQ(out.row(one.name, 2), last.row(one.name)) << one.name;
    EXPECT_TRUE(std::isnan(out.row(one.name, 1).back())) << one.name;
  }
}

TEST(SsmProbe, IsRefusedWithoutSuchLayers) {
  const FakeSubject subject({at::zeros({1, 1, 1, 1}), at::zeros({1, 1, 1, 1})},
                            at::zeros({1, 2}, at::kDouble));
  EXPECT_THROW(SsmProbe(subject, {}, 1), Error);
}

}  // namespace ssm_probe_test
}  // namespace depthgrid::testing
