// Known answers; thresholds of the literature (adaptive runs within 1.1 of their tolerance's
// error).
#include "core/probe/solver/adaptive_solve.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include <gtest/gtest.h>

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>

#include "core/cells/cell_set.hpp"
#include "core/depth/integrator.hpp"

namespace depthgrid::testing {
namespace adaptive_solve_test {

/// dx/dτ = f(x, τ), τ as (E, 1, 1, 1).
class Given final : public VectorField {
 public:
  using Function = std::function<at::Tensor(const at::Tensor& x, const at::Tensor& t)>;
  explicit Given(Function f) : f_(std::move(f)) {}

  FieldValue evaluate(const at::Tensor& x, const DepthPoint& at, const Control&) const override {
    return {f_(x, per_cell(at.t, x)), {}};
  }

 private:
  Function f_;
};

at::Tensor state(std::vector<double> values) {
  const auto n = static_cast<std::int64_t>(values.size());
  return at::tensor(values, at::kDouble).view({1, 1, 1, n});
}

double worst(const at::Tensor& a, const at::Tensor& b) {
  return (a - b).abs().max().item<double>();
}

/// The slope of log error over log step from m = first to 8 first.
double slope(const Tableau& method, const VectorField& field, const at::Tensor& x0,
             const at::Tensor& exact, std::int64_t first) {
  const auto error = [&](std::int64_t m) {
    const DepthGrid grid = flow_grid(x0.size(0), m, x0.options());
    return worst(DepthIntegrator(method).solve(field, grid, x0, {}), exact);
  };
  return std::log2(error(first) / error(8 * first)) / 3;
}

TEST(FixedSteps, ConvergeAtTheirOrder) {
  const Given decay([](const at::Tensor& x, const at::Tensor&) { return -x; });
  const Given wave([](const at::Tensor& x, const at::Tensor& t) { return x * t.cos(); });
  const Given logistic([](const at::Tensor& x, const at::Tensor&) { return 2 * x * (1 - x); });
  const at::Tensor one = state({1}), small = state({0.1});
  const struct {
    const Given& field;
    at::Tensor start, exact;
  } problems[] = {{decay, one, state({std::exp(-1)})},
                  {wave, one, state({std::exp(std::sin(1.0))})},
                  {logistic, small, state({1 / (1 + 9 * std::exp(-2))})}};
  for (const auto& p : problems) {
    EXPECT_NEAR(slope(kEuler, p.field, p.start, p.exact, 16), 1, 0.1);
    EXPECT_NEAR(slope(kRk4, p.field, p.start, p.exact, 16), 4, 0.15);
    EXPECT_NEAR(slope(kDopri5, p.field, p.start, p.exact, 8), 5, 0.4);
  }
  // Absolute anchors, 20 %.
  const auto end = [&](const Tableau& method) {
    const DepthGrid grid = flow_grid(1, 16, one.options());
    return worst(DepthIntegrator(method).solve(decay, grid, one, {}), state({std::exp(-1)}));
  };
  EXPECT_NEAR(end(kEuler), 1.2e-2, 0.2 * 1.2e-2);
  EXPECT_NEAR(end(kRk4), 4.9e-8, 0.2 * 4.9e-8);
  EXPECT_NEAR(end(kDopri5), 1.1e-10, 0.2 * 1.1e-10);
}

/// x' = 20 (x₂, −x₁)|x|, x(0) = (1, 0) has |x| = 1: a rotation by 20. Anchors of the literature.
TEST(AdaptiveSolve, MeetsItsToleranceOnARotation) {
  const Given field([](const at::Tensor& x, const at::Tensor&) {
    const at::Tensor turned = at::stack({x.select(3, 1), -x.select(3, 0)}, 3);
    return 20 * turned * x.norm(2, {3}, true);
  });
  const at::Tensor exact = state({std::cos(20.0), -std::sin(20.0)});
  const struct {
    double rtol, error;
    std::int64_t evaluations;
  } runs[] = {{1e-7, 2e-6, 1800}, {1e-9, 5e-8, 4200}};
  for (const auto& run : runs) {
    const AdaptiveSolution s =
        adaptive_solve(field, state({1, 0}), {.rtol = run.rtol, .atol = run.rtol / 100});
    EXPECT_LE(worst(s.x, exact), run.error);
    EXPECT_LE(s.cost[0].evaluations, run.evaluations);
    EXPECT_EQ(s.cost[0].evaluations, 2 + 6 * (s.cost[0].accepted + s.cost[0].rejected));
    EXPECT_EQ(s.cost[0].status, SolveStatus::Done);
  }
}

/// Requested times change neither the end nor the evaluations; states between steps are as exact as
/// those at their ends, and move as the field says.
/// Two bodies and a light third one in the frame of the first two, whose orbit closes: Arenstorf's.
TEST(AdaptiveSolve, ClosesTheOrbitOfArenstorf) {
  constexpr double kMu = 0.012277471, kPeriod = 17.0652165601579625588917206249;
  const Given orbit([](const at::Tensor& s, const at::Tensor&) {
    const at::Tensor x = s.select(3, 0), y = s.select(3, 1), u = s.select(3, 2), v = s.select(3, 3);
    const double other = 1 - kMu;
    const at::Tensor d1 = ((x + kMu).square() + y.square()).pow(1.5),
                     d2 = ((x - other).square() + y.square()).pow(1.5);
    return kPeriod * at::stack({u, v, x + 2 * v - other * (x + kMu) / d1 - kMu * (x - other) / d2,
                                y - 2 * u - other * y / d1 - kMu * y / d2},
                               3);
  });
  const at::Tensor start = state({0.994, 0, 0, -2.00158510637908252240537862224});
  const AdaptiveSolution out =
      adaptive_solve(orbit, start, {.rtol = 1e-10, .atol = 1e-10, .max_steps = 5000});
  EXPECT_EQ(out.cost[0].status, SolveStatus::Done);
  EXPECT_LT(worst(out.x, start), 1e-4);
  EXPECT_LE(out.cost[0].evaluations, 8000);
}

/// The steps are those of all sequences of a cell; what one has alone is within the tolerance.
TEST(AdaptiveSolve, ASequenceHasNearlyTheStateThatItHasAlone) {
  const Given field([](const at::Tensor& x, const at::Tensor& t) { return (3 * x).sin() + t; });
  const at::Tensor all = at::rand({1, 3, 4, 5}, at::kDouble);
  constexpr AdaptiveOptions kOptions{.rtol = 1e-6, .atol = 1e-6};
  const at::Tensor together = adaptive_solve(field, all, kOptions).x;
  for (std::int64_t b = 0; b < 3; ++b) {
    const at::Tensor alone = adaptive_solve(field, all.narrow(1, b, 1), kOptions).x;
    EXPECT_LT(worst(alone, together.narrow(1, b, 1)), 10 * kOptions.rtol) << b;
  }
}

/// A step whose field is not finite is taken shorter and shorter: the cell ends there, and says so.
TEST(AdaptiveSolve, SaysHowFarItGot) {
  const Given field([](const at::Tensor& x, const at::Tensor& t) {
    return x * 0 + (0.5 - t).sqrt();  // not a number beyond the middle
  });
  const AdaptiveSolution out = adaptive_solve(field, state({1}), {});
  EXPECT_NE(out.cost[0].status, SolveStatus::Done);
  EXPECT_NEAR(out.cost[0].reached, 0.5, 1e-3);
  EXPECT_TRUE(out.x.isfinite().all().item<bool>());
}

TEST(AdaptiveSolve, HasStatesBetweenItsSteps) {
  const Given field([](const at::Tensor& x, const at::Tensor& t) {
    return at::stack({x.select(3, 1), -x.select(3, 0)}, 3) * (6 + 4 * t);
  });
  const auto exact = [](double t) {
    const double angle = 6 * t + 2 * t * t;
    return state({std::cos(angle), -std::sin(angle)});
  };
  const AdaptiveOptions plain{.rtol = 1e-6, .atol = 1e-8};
  AdaptiveOptions dense = plain;
  for (int i = 0; i <= 100; ++i) dense.at.push_back(i / 100.0);
  const AdaptiveSolution without = adaptive_solve(field, state({1, 0}), plain);
  const AdaptiveSolution with = adaptive_solve(field, state({1, 0}), dense);
  EXPECT_TRUE(at::equal(without.x, with.x));
  EXPECT_EQ(without.cost[0].evaluations, with.cost[0].evaluations);
  EXPECT_TRUE(at::equal(with.states.front(), state({1, 0})));
  EXPECT_LT(worst(with.states.back(), with.x), 1e-14);
  const double end = worst(with.x, exact(1));
  double between = 0;
  for (std::size_t i = 0; i < dense.at.size(); ++i) {
    between = std::max(between, worst(with.states[i], exact(dense.at[i])));
  }
  EXPECT_LT(between, 3 * end);
  AdaptiveOptions close = plain;
  for (int i = 0; i < 33; ++i) {
    const double t = std::clamp(i / 32.0, 1e-5, 1 - 1e-5);
    close.at.insert(close.at.end(), {t - 1e-5, t, t + 1e-5});
  }
  const AdaptiveSolution near = adaptive_solve(field, state({1, 0}), close);
  for (std::size_t i = 0; i < close.at.size(); i += 3) {
    const at::Tensor moved = (near.states[i + 2] - near.states[i]) / 2e-5;
    const at::Tensor t = at::full({1}, close.at[i + 1], at::kDouble);
    const at::Tensor slope = field.evaluate(near.states[i + 1], {t, t, 0}, {}).dx;
    EXPECT_LT(worst(moved, slope) / slope.abs().max().item<double>(), 1e-3) << close.at[i + 1];
  }
}

TEST(AdaptiveSolve, EndsOnLogisticAndOnStiffFields) {
  const Given logistic([](const at::Tensor& x, const at::Tensor&) { return 10 * x * (1 - x); });
  const Given stiff([](const at::Tensor& x, const at::Tensor& t) { return -500 * (x - t.cos()); });

  const AdaptiveSolution a = adaptive_solve(logistic, state({0.01}), {});
  const AdaptiveSolution b = adaptive_solve(stiff, state({0}), {});

  EXPECT_NEAR(a.x.item<double>(), 1 / (1 + 99 * std::exp(-10)), 1e-6);
  // Away from the layer at the start: x = (500² cos τ + 500 sin τ)/(500² + 1).
  const double l = 500, exact = (l * l * std::cos(1) + l * std::sin(1)) / (l * l + 1);
  EXPECT_NEAR(b.x.item<double>(), exact, 1e-6);
  EXPECT_GT(b.cost[0].accepted, 100) << "stability, not accuracy, bounds the steps";
}

TEST(AdaptiveSolve, SaysWhyACellEndedEarlyAndLeavesItFinite) {
  const Given burst(
      [](const at::Tensor& x, const at::Tensor&) { return 2 * x * x; });  // at τ = 1/2
  const Given hole([](const at::Tensor& x, const at::Tensor& t) {
    return x / (t < 0.5).to(at::kDouble);  // infinite from there on
  });
  const auto end = [](const VectorField& field, const AdaptiveOptions& o) {
    const AdaptiveSolution s = adaptive_solve(field, state({1}), o);
    EXPECT_TRUE(std::isfinite(s.x.item<double>()));
    return s.cost[0].status;
  };

  EXPECT_EQ(end(burst, {.max_steps = 5}), SolveStatus::MaxSteps);
  EXPECT_EQ(end(burst, {.max_steps = 100000}), SolveStatus::MinStep);
  EXPECT_EQ(end(hole, {}), SolveStatus::NonFinite);
  EXPECT_EQ(adaptive_solve(burst, state({std::nan("")}), {}).cost[0].status,
            SolveStatus::NonFinite);
}

/// Cells take different numbers of steps, one of them diverges, and each has the bits it has alone.
TEST(AdaptiveSolve, ACellHasTheBitsThatItHasAlone) {
  const at::Tensor rate = at::tensor({1.0, 30.0, 5.0}, at::kDouble);
  const auto field = [](at::Tensor r) {
    return Given([r](const at::Tensor& x, const at::Tensor& t) {
      return per_cell(r, x) * (x.cos() + (9 * t).sin());
    });
  };
  at::Tensor x = at::rand({3, 2, 5, 7}, at::kDouble);
  const AdaptiveSolution first = adaptive_solve(field(rate.narrow(0, 0, 1)), x.narrow(0, 0, 1), {});
  const AdaptiveSolution last = adaptive_solve(field(rate.narrow(0, 2, 1)), x.narrow(0, 2, 1), {});
  x[1][0][3][2] = std::nan("");

  const AdaptiveSolution all = adaptive_solve(field(rate), x, {});

  EXPECT_TRUE(at::equal(all.x[0], first.x[0]));
  EXPECT_TRUE(at::equal(all.x[2], last.x[0]));
  EXPECT_EQ(all.cost[0].evaluations, first.cost[0].evaluations);
  EXPECT_EQ(all.cost[2].evaluations, last.cost[0].evaluations);
  EXPECT_NE(all.cost[0].evaluations, all.cost[2].evaluations);
  EXPECT_EQ(all.cost[1].status, SolveStatus::NonFinite);
}

}  // namespace adaptive_solve_test
}  // namespace depthgrid::testing
