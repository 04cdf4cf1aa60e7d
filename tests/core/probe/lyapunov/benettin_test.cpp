#include "core/probe/lyapunov/benettin.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <numbers>

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "core/probe/lyapunov/kaplan_yorke.hpp"
#include "tests/support/verdict.hpp"

namespace depthgrid::testing {
namespace benettin_test {

using In = std::span<const double>;
using Out = std::span<double>;

/// y <- A y, A n x n row-major.
void multiply(const std::vector<double>& a, In x, Out y) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    y[i] = 0;
    for (std::size_t j = 0; j < x.size(); ++j) y[i] += a[i * x.size() + j] * x[j];
  }
}

SmoothFlow linear_flow(const std::vector<double>& a) {
  return {[a](In x, Out f) { multiply(a, x, f); }, [a](In, In v, Out jv) { multiply(a, v, jv); }};
}

/// An iterated map with its Jacobian at x.
TangentStep map_step(std::function<std::vector<double>(In)> next,
                     std::function<std::vector<double>(In)> jacobian) {
  return [=](Out x, Out tangents) {
    const std::vector<double> a = jacobian(x);
    std::vector<double> y(x.size());
    for (std::size_t i = 0; i < tangents.size(); i += x.size()) {
      const Out v = tangents.subspan(i, x.size());
      multiply(a, v, y);
      std::ranges::copy(y, v.begin());
    }
    std::ranges::copy(next(x), x.begin());
  };
}

const std::vector<double>& upper_triangular() {
  static const std::vector<double> a = {1.5, 0.7,  -0.4, 0.2,  //
                                        0,   -0.8, 0.9,  0.3,  //
                                        0,   0,    0.5,  -1,   //
                                        0,   0,    0,    -1.9};
  return a;
}

SmoothFlow lorenz() {
  return {[](In x, Out f) {
            f[0] = 10 * (x[1] - x[0]);
            f[1] = x[0] * (28 - x[2]) - x[1];
            f[2] = x[0] * x[1] - 8.0 / 3 * x[2];
          },
          [](In x, In v, Out jv) {
            jv[0] = 10 * (v[1] - v[0]);
            jv[1] = v[0] * (28 - x[2]) - x[0] * v[2] - v[1];
            jv[2] = v[0] * x[1] + x[0] * v[1] - 8.0 / 3 * v[2];
          }};
}

TEST(Benettin, AnUpperTriangularMapHasItsDiagonal) {
  const auto& a = upper_triangular();
  const TangentStep step =
      map_step([](In x) { return std::vector<double>(x.begin(), x.end()); }, [&](In) { return a; });
  const auto found = benettin(step, std::vector<double>(4), unit_basis(4, 4), {.steps = 200});
  double worst = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    worst = std::max(worst, std::abs(found.rate[i] - std::log(std::abs(a[i * 5]))));
  }
  verdict(21, "upper-triangular map: distance from ln abs a_ii", worst, at_most(1e-12));
}

TEST(Benettin, AnUpperTriangularFlowHasItsStabilityPolynomial) {
  const auto& a = upper_triangular();
  const double h = 0.01;
  double of_polynomial = 0, of_diagonal = 0;
  for (const Tableau* method : {&kEuler, &kRk4}) {
    const TangentStep step = runge_kutta_step(*method, linear_flow(a), h);
    const auto found =
        benettin(step, std::vector<double>(4), unit_basis(4, 4), {.steps = 1000, .time = h});
    for (std::size_t i = 0; i < 4; ++i) {
      const double z = h * a[i * 5];
      const double euler = 1 + z, rk4 = euler + z * z / 2 + z * z * z / 6 + z * z * z * z / 24;
      const double growth = method == &kEuler ? euler : rk4;
      of_polynomial = std::max(of_polynomial, std::abs(found.rate[i] - std::log(growth) / h));
      if (method == &kRk4) {
        of_diagonal = std::max(of_diagonal, std::abs(found.rate[i] - a[i * 5]));
      }
    }
  }
  verdict(21, "upper-triangular flow, Euler and RK4: distance from ln R(h a_ii)/h", of_polynomial,
          at_most(1e-12));
  verdict(21, "the same, RK4: distance from a_ii", of_diagonal, at_most(1e-6));
}

TEST(Benettin, AGeneralLinearFlowHasTheRealPartsOfItsEigenvalues) {
  // Eigenvalues 0.3 ± 2i and -1, in a basis that is not orthogonal.
  const std::vector<double> a = {0.3, 2, 4, -2, 0.3, 1, 0, 0, -1};
  const TangentStep step = runge_kutta_step(kRk4, linear_flow(a), 0.05);
  const auto found =
      benettin(step, std::vector<double>(3), unit_basis(3, 3), {.steps = 40000, .time = 0.05});
  const double worst = std::max(
      {std::abs(found.rate[0] - 0.3), std::abs(found.rate[1] - 0.3), std::abs(found.rate[2] + 1)});
  verdict(21, "general linear flow: distance from the real parts", worst, at_most(1e-3));
}

TEST(Benettin, ArnoldsCatMap) {
  const TangentStep step = map_step(
      [](In x) {
        const double p = 2 * x[0] + x[1], q = x[0] + x[1];
        return std::vector<double>{p - std::floor(p), q - std::floor(q)};
      },
      [](In) { return std::vector<double>{2, 1, 1, 1}; });
  const auto found =
      benettin(step, {0.1, 0.7}, unit_basis(2, 2), {.steps = 1000, .transient = 100});
  const double known = std::log((3 + std::sqrt(5.0)) / 2);
  const double worst = std::max(std::abs(found.rate[0] - known), std::abs(found.rate[1] + known));
  verdict(21, "Arnold's cat: distance from ± ln((3 + √5)/2)", worst, at_most(1e-10));
}

TEST(Benettin, TheLogisticMapHasLogTwo) {
  const TangentStep step = map_step([](In x) { return std::vector<double>{4 * x[0] * (1 - x[0])}; },
                                    [](In x) { return std::vector<double>{4 - 8 * x[0]}; });
  const auto found = benettin(step, {0.3}, {1}, {.steps = 100000, .transient = 100});
  verdict(22, "logistic map, r = 4: λ₁", found.rate[0], near(std::numbers::ln2, 1e-3));
}

TEST(Benettin, HenonsMap) {
  const TangentStep step =
      map_step([](In x) { return std::vector<double>{1 - 1.4 * x[0] * x[0] + x[1], 0.3 * x[0]}; },
               [](In x) { return std::vector<double>{-2.8 * x[0], 1, 0.3, 0}; });
  const auto found =
      benettin(step, {0.1, 0.1}, unit_basis(2, 2), {.steps = 100000, .transient = 100});
  const double sum = found.rate[0] + found.rate[1];
  verdict(22, "Hénon (1.4, .3), 10⁵ steps: λ₁", found.rate[0], near(0.4192, 0.003));
  verdict(22, "Hénon: distance of λ₁ + λ₂ from ln .3", std::abs(sum - std::log(0.3)),
          at_most(1e-10));
  verdict(22, "Hénon: Kaplan–Yorke dimension", kaplan_yorke(found.rate, 2), near(1.258, 0.003));
}

TEST(Benettin, LorenzAttractor) {
  const TangentStep step = runge_kutta_step(kRk4, lorenz(), 0.01);
  const std::clock_t begin = std::clock();
  const auto found = benettin(step, {1, 1, 20}, unit_basis(3, 3),
                              {.steps = 1000000, .transient = 10000, .time = 0.01});
  const double sum = found.rate[0] + found.rate[1] + found.rate[2];
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  verdict(23, "Lorenz (10, 28, 8/3), T = 10⁴: λ₁", found.rate[0], near(0.9056, 0.005));
  verdict(23, "Lorenz: λ₂", found.rate[1], near(0, 0.002));
  verdict(23, "Lorenz: λ₃", found.rate[2], near(-14.572, 0.01));
  verdict(23, "Lorenz: sum", sum, near(-41.0 / 3, 5e-4));
  verdict(23, "Lorenz: Kaplan–Yorke dimension", kaplan_yorke(found.rate, 3), near(2.062, 0.003));
  verdict(23, "Lorenz: seconds of a core", seconds, at_most(30));
}

TEST(Benettin, RoesslerAttractor) {
  const SmoothFlow roessler = {[](In x, Out f) {
                                 f[0] = -x[1] - x[2];
                                 f[1] = x[0] + 0.2 * x[1];
                                 f[2] = 0.2 + x[2] * (x[0] - 5.7);
                               },
                               [](In x, In v, Out jv) {
                                 jv[0] = -v[1] - v[2];
                                 jv[1] = v[0] + 0.2 * v[1];
                                 jv[2] = v[0] * x[2] + v[2] * (x[0] - 5.7);
                               }};
  const auto found = benettin(runge_kutta_step(kRk4, roessler, 0.02), {1, 1, 0}, unit_basis(3, 3),
                              {.steps = 500000, .transient = 25000, .time = 0.02});
  verdict(24, "Rössler (.2, .2, 5.7), T = 10⁴: λ₁", found.rate[0], near(0.0714, 0.005));
  verdict(24, "Rössler: λ₂", found.rate[1], near(0, 0.002));
  verdict(24, "Rössler: λ₃", found.rate[2], near(-5.394, 0.02));
}

TEST(Benettin, TheIntervalDoesNotMatterUntilItIsTooLong) {
  const TangentStep step = runge_kutta_step(kRk4, lorenz(), 0.01);
  const auto with = [&](std::int64_t interval) {
    return benettin(step, {1, 1, 20}, unit_basis(3, 3),
                    {.steps = 20000, .transient = 1000, .interval = interval, .time = 0.01});
  };
  const auto each = with(1);
  double worst = 0;
  for (const std::int64_t interval : {10, 100}) {
    const auto found = with(interval);
    EXPECT_TRUE(found.resolved);
    for (std::size_t i = 0; i < 3; ++i) {
      worst = std::max(worst, std::abs(found.rate[i] - each.rate[i]));
    }
  }
  verdict(25, "orthonormalised every 1, 10, 100 steps: distance between exponents", worst,
          at_most(1e-6));
  const auto late = with(500);  // the third direction is rounding of the first two
  verdict(25, "every 500 steps: resolved (1), or a warning in place of a number (0)",
          late.resolved ? 1 : 0, exactly(0));
  EXPECT_NEAR(late.rate[0], each.rate[0], 1e-6);
  EXPECT_TRUE(std::isnan(late.rate[2]));
}

TEST(Benettin, OneVectorFindsTheFirstOfAll) {
  const TangentStep step = runge_kutta_step(kRk4, lorenz(), 0.01);
  const BenettinOptions o{.steps = 5000, .transient = 500, .interval = 5, .time = 0.01};
  const auto all = benettin(step, {1, 1, 20}, unit_basis(3, 3), o);
  const auto one = benettin(step, {1, 1, 20}, unit_basis(1, 3), o);
  verdict(26, "one vector: distance from the first of all", std::abs(one.rate[0] - all.rate[0]),
          at_most(1e-9));
}

TEST(Benettin, AnOrbitThatDivergesHasNoNumbers) {
  const TangentStep step = map_step([](In x) { return std::vector<double>{x[0] * x[0]}; },
                                    [](In x) { return std::vector<double>{2 * x[0]}; });
  const auto found = benettin(step, {2}, {1}, {.steps = 2000});
  EXPECT_FALSE(found.resolved);
  EXPECT_TRUE(std::isnan(found.rate[0]));
}

TEST(Benettin, RefusesSizesThatDoNotMatch) {
  const TangentStep nothing = [](Out, Out) {};
  EXPECT_THROW(benettin(nothing, {1, 1}, {1, 0, 0}, {.steps = 1}), Error);
  EXPECT_THROW(benettin(nothing, {1}, {1, 0}, {.steps = 1}), Error);
  EXPECT_THROW(benettin(nothing, {1}, {1}, {}), Error);
}

}  // namespace benettin_test
}  // namespace depthgrid::testing
