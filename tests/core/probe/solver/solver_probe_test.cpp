// Fields whose solutions are known, and the negative control, where no order can be observed.
#include "core/probe/solver/solver_probe.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <ATen/TensorOperators.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include "core/base/error.hpp"
#include "core/cells/cell_set.hpp"
#include "core/depth/integrator.hpp"
#include "core/probe/solver/independent_layers.hpp"
#include "core/probe/solver/solver_comparison.hpp"
#include "tests/core/probe/fake_subject.hpp"
#include "tests/core/probe/recorded_rows.hpp"
#include "tests/support/verdict.hpp"

namespace depthgrid::testing {
namespace solver_probe_test {

constexpr std::int64_t kSteps = 4;

/// x' = r tanh(x), r by cell: smooth, non-linear, autonomous.
class Tanh final : public VectorField {
 public:
  explicit Tanh(at::Tensor rate) : rate_(std::move(rate)) {}
  FieldValue evaluate(const at::Tensor& x, const DepthPoint&, const Control&) const override {
    return {per_cell(rate_, x) * x.tanh(), {}};
  }

 private:
  at::Tensor rate_;
};

class Given final : public ContinuousDepth {
 public:
  Given(const VectorField& field, at::Tensor start, const Tableau& method = kEuler)
      : field_(field), start_(std::move(start)), method_(method) {}

  std::int64_t steps() const override { return kSteps; }
  const VectorField& field() const override { return field_; }
  at::Tensor start(std::int64_t first, std::int64_t count) const override {
    return start_.narrow(1, first, count);
  }
  at::Tensor own(const at::Tensor& x) const override {
    return DepthIntegrator(method_).solve(field_, flow_grid(x.size(0), kSteps, x.options()), x, {});
  }
  at::Tensor euler(const at::Tensor& x, std::int64_t steps) const override {
    const DepthGrid grid = flow_grid(x.size(0), steps, x.options());
    return DepthIntegrator(kEuler).solve(field_, grid, x, {});
  }
  at::Tensor finish(const at::Tensor& x) const override { return x; }
  at::Tensor logits(const at::Tensor& x) const override { return x; }  // channels are words

 private:
  const VectorField& field_;
  at::Tensor start_;
  const Tableau& method_;
};

class GivenField final : public FakeSubject {
 public:
  GivenField(const VectorField& field, at::Tensor start, const Tableau& method)
      : FakeSubject({start, start}, at::zeros({start.size(0), 2}, at::kDouble)),
        field_(field),
        start_(start),
        method_(method) {}

  std::int64_t continuous_steps() const override { return kSteps; }
  std::unique_ptr<ContinuousDepth> continuous() const override {
    return std::make_unique<Given>(field_, start_, method_);
  }

 private:
  const VectorField& field_;
  at::Tensor start_;
  const Tableau& method_;
};

RecordedRows seen(const VectorField& field, const at::Tensor& start, SolverOptions options = {},
                  const Tableau& method = kEuler) {
  const GivenField subject(field, start, method);
  SolverProbe probe(subject, std::move(options));
  RecordedRows out;
  probe.declare(out);
  probe.measure(0, out);
  return out;
}

TEST(SolverProbe, OnASmoothFieldEachMethodHasItsOrderAndItsCount) {
  const Tanh field(at::tensor({1.3}, at::kDouble));
  const RecordedRows out = seen(field, at::randn({1, 2, 6, 8}, at::kDouble));

  const auto& order = out.row("solver_observed_order");
  EXPECT_NEAR(order[0], 1, 0.15);
  EXPECT_NEAR(order[1], 1, 0.1);
  verdict(12, "autonomous smooth field: order of rk4", order[2], near(4, 0.3));
  verdict(12, "autonomous smooth field: flag solver_continuous (1 continuous)",
          out.row("solver_continuous")[0], exactly(1));
  EXPECT_TRUE(std::isnan(order[3])) << "an adaptive method has no step to halve";
  const auto& count = out.row("solver_evaluations");
  const auto& accepted = out.row("solver_accepted");
  EXPECT_EQ(count[0], kSteps);
  EXPECT_EQ(count[1], 2 * kSteps);
  EXPECT_EQ(count[2], 4 * (kSteps + 1));
  EXPECT_EQ(count[3], 2 + 6 * (accepted[3] + out.row("solver_rejected")[3]));
  EXPECT_EQ(out.row("solver_status"), std::vector<double>(4, 0));
  const auto& moved = out.row("solver_divergence_displacement");
  EXPECT_LT(moved[3], 1e-5) << "within its tolerance";
  EXPECT_LT(moved[2], 1e-2);
  EXPECT_GT(moved[0], moved[1]);
  EXPECT_GT(moved[0], 1e-2);
}

/// One channel each: x = asinh(sinh(x₀) e^{rτ}).
TEST(SolverProbe, DistancesAreThoseToTheSolution) {
  const double rate = 1.3;
  const at::Tensor x = at::randn({1, 1, 1, 5}, at::kDouble);
  const Tanh field(at::tensor({rate}, at::kDouble));
  const at::Tensor exact = (x.sinh() * std::exp(rate)).asinh();
  const at::Tensor euler = Given(field, x).euler(x, kSteps);
  const double error = (euler - exact).norm().item<double>();

  const RecordedRows out = seen(field, x);

  EXPECT_NEAR(out.row("solver_divergence_state")[0], error / exact.norm().item<double>(), 1e-6);
  EXPECT_NEAR(out.row("solver_divergence_displacement")[0],
              error / (exact - x).norm().item<double>(), 1e-6);
  const at::Tensor p = euler.view({5}).log_softmax(0), q = exact.view({5}).log_softmax(0);
  EXPECT_NEAR(out.row("solver_kl")[0], (q.exp() * (q - p)).sum().item<double>(), 1e-6);
  EXPECT_NEAR(out.row("solver_loss_change")[0], (q[0] - p[0]).item<double>(), 1e-6)
      << "the target is the first word";
}

constexpr std::int64_t kManyCells = 16;

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

/// The control that must fail: steps of Euler look as near as on a smooth field, but no method of
/// high order on another grid converges at its order.
TEST(SolverProbe, IndependentLayersHaveNoOrder) {
  const Tanh field(at::full({kManyCells}, 0.3, at::kDouble));
  const RecordedRows out = seen(field, at::randn({kManyCells, 2, 6, 8}, at::kDouble));

  // Numbers of one small state are noisy: no control may pass for a field, and most are far from
  // it.
  std::vector<double> orders, steps;
  for (std::size_t e = 0; e < kManyCells; ++e) {
    orders.push_back(out.row("solver_control_order", e)[2]);
    steps.push_back(out.row("solver_control_divergence", e)[0]);
    EXPECT_LT(orders.back(), 2.5);
    EXPECT_GE(out.row("solver_observed_order", e)[2], 3.5);
    EXPECT_GT(out.row("solver_control_divergence", e)[2], 0.01) << "rk4 between the layers";
    EXPECT_LT(out.row("solver_divergence_displacement", e)[2], 1e-3);
  }
  EXPECT_LE(median(orders), 1.5);
  EXPECT_LT(median(steps), 0.1) << "Euler on the layers";
  for (std::size_t e = 0; e < kManyCells; ++e) EXPECT_EQ(out.row("solver_continuous", e)[0], 1);
}

TEST(SolverProbe, TheControlAsTheFieldIsSeenThrough) {
  const at::Tensor x = at::randn({kManyCells, 2, 6, 8}, at::kDouble);
  IndependentLayers layers(kSteps, x);
  std::vector<double> half = cell_norms(x);
  for (double& norm : half) norm *= 0.5;
  layers.match(x, half);
  const RecordedRows out = seen(layers, x, {.negative_control = false});

  std::vector<double> orders, euler;
  double not_continuous = 0;
  for (std::size_t e = 0; e < kManyCells; ++e) {
    orders.push_back(out.row("solver_observed_order", e)[2]);
    euler.push_back(out.row("solver_divergence_state", e)[0]);
    EXPECT_LT(orders.back(), 2.5);
    EXPECT_GT(out.row("solver_divergence_displacement", e)[2], 0.01);
    not_continuous += out.row("solver_continuous", e)[0] == 2 ? 1 : 0;
  }
  verdict(12, "independent layers, 16 draws: median order of rk4", median(orders), at_most(1.5));
  verdict(12, "independent layers: of 16, flag solver_continuous says 2, not", not_continuous,
          exactly(kManyCells));
  EXPECT_LT(median(euler), 0.1) << "the published measure sees nothing";
}

MethodResult rk4_with(double distance, double order) {
  return {.of_displacement = distance, .order = order, .cost = {}};
}

TEST(Continuity, NeedsASmallDistanceAndAHighOrder) {
  EXPECT_EQ(continuity(rk4_with(0.01, 3)), Continuity::Continuous);
  EXPECT_EQ(continuity(rk4_with(0.011, 4)), Continuity::Not);
  EXPECT_EQ(continuity(rk4_with(1e-4, 2.9)), Continuity::Not);
  EXPECT_EQ(continuity(rk4_with(std::nan(""), 4)), Continuity::Undecided);
  EXPECT_EQ(continuity(rk4_with(1e-15, std::nan(""))), Continuity::Undecided) << "rounding";
}

TEST(Continuity, IsUndecidedIfTheControlPassesToo) {
  const MethodResult good = rk4_with(1e-3, 4), bad = rk4_with(0.3, 1);
  EXPECT_EQ(continuity(good, bad), Continuity::Continuous);
  EXPECT_EQ(continuity(good, good), Continuity::Undecided);
  EXPECT_EQ(continuity(good, rk4_with(std::nan(""), 1)), Continuity::Undecided);
  EXPECT_EQ(continuity(bad, good), Continuity::Not);
}

/// Of a weak field rk4's errors are as small as the reference's own: orders are measured all the
/// same.
TEST(SolverProbe, AnOrderNeedsNoReference) {
  const Tanh field(at::tensor({0.5}, at::kDouble));
  const at::Tensor start = at::randn({1, 2, 6, 8}, at::kDouble);
  for (const double rtol : {1e-3, 1e-5, 1e-7}) {
    const RecordedRows out = seen(field, start, {.tolerances = {.rtol = rtol, .atol = rtol / 100}});
    EXPECT_NEAR(out.row("solver_observed_order")[2], 4, 0.3) << rtol;
    EXPECT_EQ(out.row("solver_continuous")[0], 1) << rtol;
  }
}

/// A field that is smooth, and too strong for four steps.
TEST(SolverProbe, AStrongFieldIsContinuousAndNotInvariant) {
  const at::Tensor start = at::randn({1, 2, 6, 8}, at::kDouble);
  const RecordedRows weak = seen(Tanh(at::tensor({0.2}, at::kDouble)), start);
  const RecordedRows strong = seen(Tanh(at::tensor({6.0}, at::kDouble)), start);
  EXPECT_EQ(weak.row("solver_invariant")[0], 1);
  EXPECT_EQ(strong.row("solver_invariant")[0], 2);
  EXPECT_EQ(strong.row("solver_continuous")[0], 1);
  EXPECT_EQ(strong.row("solver_reached"), std::vector<double>(4, 1));
}

/// What another method takes four steps of is judged by its own, whatever is compared.
TEST(SolverProbe, AModelsOwnMethodIsJudged) {
  const Tanh field(at::tensor({6.0}, at::kDouble));
  const at::Tensor start = at::randn({1, 2, 6, 8}, at::kDouble);
  const RecordedRows euler = seen(field, start);
  const RecordedRows rk4 = seen(field, start, {.methods = {SolverMethod::Dopri5}}, kRk4);

  EXPECT_EQ(euler.row("solver_own_divergence")[0], euler.row("solver_divergence_displacement")[0]);
  EXPECT_LT(rk4.row("solver_own_divergence")[0], kInvariantDistance);
  EXPECT_EQ(rk4.row("solver_invariant")[0], 1);
}

TEST(SolverProbe, WithoutRk4NothingIsDecided) {
  const Tanh field(at::tensor({1.3}, at::kDouble));
  const RecordedRows out = seen(field, at::randn({1, 2, 6, 8}, at::kDouble),
                                {.methods = {SolverMethod::EulerM, SolverMethod::Dopri5}});
  EXPECT_EQ(out.row("solver_continuous")[0], 0);
}

TEST(IndependentLayers, MoveTheStateAsFarAsIsAsked) {
  const at::Tensor x = at::randn({3, 2, 5, 8}, at::kDouble);
  const std::vector<double> far = {0.1, std::nan(""), 20};
  IndependentLayers layers(kSteps, x);
  layers.match(x, far);

  const std::vector<double> moved = cell_norms(layers.solve(x) - x);

  EXPECT_NEAR(moved[0], far[0], 0.011 * far[0]);
  EXPECT_TRUE(std::isnan(moved[1]));
  EXPECT_NEAR(moved[2], far[2], 0.011 * far[2]);
}

/// A cell's bits are those it has alone; a diverged one is NaN and says so.
TEST(SolverProbe, FusedIsAloneAndADivergedCellHarmsNobody) {
  const at::Tensor rate = at::tensor({1.0, 1.0, 4.0}, at::kDouble);
  at::Tensor x = at::randn({3, 2, 6, 8}, at::kDouble);
  const auto alone = [&](std::int64_t e) {
    return seen(Tanh(rate.narrow(0, e, 1)), x.narrow(0, e, 1));
  };
  const RecordedRows first = alone(0), last = alone(2);
  x[1][0][3][2] = std::nan("");

  const RecordedRows out = seen(Tanh(rate), x);

  const auto same = [](const std::vector<double>& a, const std::vector<double>& b) {
    return std::ranges::equal(
        a, b, [](double p, double q) { return p == q || (std::isnan(p) && std::isnan(q)); });
  };
  for (const SeriesSpec& one : out.series) {
    EXPECT_TRUE(same(out.row(one.name, 0), first.row(one.name))) << one.name;
    EXPECT_TRUE(same(out.row(one.name, 2), last.row(one.name))) << one.name;
  }
  EXPECT_EQ(out.row("solver_status", 1), std::vector<double>(4, 3));
  EXPECT_EQ(out.row("solver_continuous", 1)[0], 0) << "undecided";
  EXPECT_EQ(out.row("solver_invariant", 1)[0], 0) << "undecided";
  for (const char* name :
       {"solver_divergence_state", "solver_observed_order", "solver_kl", "solver_own_divergence",
        "solver_control_divergence", "solver_control_order"}) {
    for (const double v : out.row(name, 1)) EXPECT_TRUE(std::isnan(v)) << name;
  }
}

TEST(SolverProbe, WhereTheReferenceFailsNothingIsMeasured) {
  const Tanh field(at::tensor({1.0}, at::kDouble));
  const RecordedRows out = seen(field, at::randn({1, 2, 6, 8}, at::kDouble),
                                {.tolerances = {.rtol = 1e-13, .atol = 1e-15, .max_steps = 20}});

  EXPECT_EQ(out.row("solver_status")[3], 1);
  EXPECT_EQ(out.row("solver_status")[0], 0);
  EXPECT_TRUE(std::isnan(out.row("solver_divergence_state")[0]));
  EXPECT_TRUE(std::isnan(out.row("solver_observed_order")[2]));
}

TEST(SolverProbe, IsRefusedWithoutAFieldOrMethods) {
  const at::Tensor x = at::zeros({1, 1, 1, 1}, at::kDouble);
  EXPECT_THROW(SolverProbe(FakeSubject({x, x}, at::zeros({1, 2}, at::kDouble)), {}), Error);
  const Tanh field(at::tensor({1.0}, at::kDouble));
  EXPECT_THROW(SolverProbe(GivenField(field, x, kEuler), {.methods = {}}), Error);
  EXPECT_EQ(solver_method("rk4"), SolverMethod::Rk4);
  EXPECT_THROW(solver_method("euler"), Error);
}

}  // namespace solver_probe_test
}  // namespace depthgrid::testing
