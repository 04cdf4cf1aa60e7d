#include "sweeps/compare/curve.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/error.hpp"

namespace depthgrid {
namespace curve_test {

// Expected values: NumPy and scipy 1.17.1 (st = scipy.stats) by the expressions beside them, with
// x, y = numpy.array(kX), numpy.array(kY).
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kRelative = 1e-12;
constexpr MetricGoal kMinimize = MetricGoal::Minimize, kMaximize = MetricGoal::Maximize;

const std::vector<double> kX = {0, 100, 200, 400, 800, 1000};
const std::vector<double> kY = {5, 4, 3.2, 2.9, 3.0, 2.6};  // turns back once

EvaluationCurve curve() {
  return {kX, kY};
}

EvaluationCurve curve_of(const std::vector<double>& x, const std::vector<double>& y) {
  return {x, y};
}

EvaluationCurve negative() {
  std::vector<double> y = kY;
  for (double& value : y) value = -value;
  return {kX, y};
}

void expect_close(double number, double expected) {
  EXPECT_NEAR(number, expected, kRelative * std::abs(expected));
}

void expect_reached(const Reached& reached, double at) {
  EXPECT_TRUE(reached.reached);
  EXPECT_DOUBLE_EQ(reached.at, at);
}

TEST(Curve, IsTheStraightLineBetweenEvaluationsAndNothingOutside) {
  for (std::size_t i = 0; i < kX.size(); ++i) EXPECT_EQ(value_at(curve(), kX[i]), kY[i]);
  expect_close(value_at(curve(), 50).value_or(kNaN), 4.5);  // np.interp(50, x, y)
  expect_close(value_at(curve(), 300).value_or(kNaN), 3.05);
  expect_close(value_at(curve(), 700).value_or(kNaN), 2.975);
  expect_close(value_at(curve(), 999).value_or(kNaN), 2.602);
  EXPECT_FALSE(value_at(curve(), -1e-9).has_value());
  EXPECT_FALSE(value_at(curve(), 1000.001).has_value());
  EXPECT_FALSE(value_at(curve(), kNaN).has_value());
}

TEST(Curve, DropsEvaluationsThatAreNoNumbers) {
  const EvaluationCurve gaps = curve_of({0, 1, 2, 3, 4}, {kNaN, 6, kInfinity, 2, kNaN});
  EXPECT_EQ(gaps.size(), 2U);
  EXPECT_EQ(gaps.dropped(), 3U);
  EXPECT_EQ(value_at(gaps, 2), 4);
  EXPECT_FALSE(value_at(gaps, .5).has_value());
  EXPECT_FALSE(value_at(gaps, 4).has_value());
  EXPECT_EQ(steps_to_target(gaps, 1, kMinimize).at, 3);  // censored where numbers end
}

TEST(Curve, XMustAscend) {
  EXPECT_THROW(curve_of({0, 1, 1}, {3, 2, 1}), Error);
  EXPECT_THROW(curve_of({0, 1, 1}, {3, kNaN, 1}), Error);  // also where one is dropped
  EXPECT_THROW(curve_of({1, 0}, {3, 2}), Error);
  EXPECT_THROW(curve_of({0, kNaN}, {3, 2}), Error);
  EXPECT_THROW(curve_of({0, kInfinity}, {3, 2}), Error);
  EXPECT_THROW(curve_of({0, 1}, {3}), Error);
}

TEST(Curve, ReachesATargetOnTheLineBetweenEvaluations) {
  expect_reached(steps_to_target(curve(), 4.25, kMinimize), 75);
  expect_reached(steps_to_target(curve(), 3.05, kMinimize), 300);
  expect_reached(steps_to_target(curve(), 2.75, kMinimize), 925);  // not before it turns back
  expect_reached(steps_to_target(curve(), 2.95, kMinimize), 400 - 200 * .05 / .3);  // first passage
  expect_reached(steps_to_target(curve(), 9, kMinimize), 0);
  const Reached never = steps_to_target(curve(), 2.5, kMinimize);
  EXPECT_FALSE(never.reached);
  EXPECT_EQ(never.at, 1000);
  EXPECT_THROW(steps_to_target(curve(), kNaN, kMinimize), Error);
}

TEST(Curve, ATargetEqualToAnEvaluationIsReachedThere) {
  for (const std::size_t i : {0U, 1U, 2U, 3U, 5U}) {
    const Reached reached = steps_to_target(curve(), kY[i], kMinimize);
    EXPECT_TRUE(reached.reached);
    EXPECT_EQ(reached.at, kX[i]);
  }
  expect_reached(steps_to_target(curve(), 3.0, kMinimize), 200 + 200 * .2 / .3);  // before x = 800
}

TEST(Curve, GoalsMirrorEachOther) {
  for (const double target : {9., 5., 4.25, 3.05, 3., 2.95, 2.75, 2.6, 2.5}) {
    const Reached down = steps_to_target(curve(), target, kMinimize);
    const Reached up = steps_to_target(negative(), -target, kMaximize);
    EXPECT_EQ(down.reached, up.reached) << target;
    EXPECT_EQ(down.at, up.at) << target;
  }
  const EvaluationCurve accuracy = curve_of({10, 20, 30}, {.2, .6, .5});
  expect_reached(steps_to_target(accuracy, .5, kMaximize), 17.5);
  expect_reached(steps_to_target(accuracy, .1, kMaximize), 10);
  expect_reached(steps_to_target(accuracy, .1 + .1, kMinimize), 10);
  EXPECT_FALSE(steps_to_target(accuracy, .7, kMaximize).reached);
}

TEST(Curve, AreaIsTheMeanOfTheLines) {
  // m = (x > x0) & (x < x1); X = np.r_[x0, x[m], x1]; np.trapezoid(np.interp(X, x, y), X)/(x1 - x0)
  expect_close(area_under(curve(), 0, 1000).value_or(kNaN), 3.16);
  expect_close(area_under(curve(), 150, 900).value_or(kNaN), 3.0);
  expect_close(area_under(curve(), 210, 220).value_or(kNaN), 3.1775);
  expect_close(area_under(curve(), 200, 800).value_or(kNaN), 2.9833333333333334);
  EXPECT_EQ(area_under(curve_of({0, 3}, {7, 7}), 1, 2), 7);
  const double left = area_under(curve(), 0, 330).value_or(kNaN);
  const double right = area_under(curve(), 330, 1000).value_or(kNaN);
  expect_close(.33 * left + .67 * right, 3.16);
  EXPECT_FALSE(area_under(curve(), 0, 1001).has_value());
  EXPECT_FALSE(area_under(curve(), -1, 10).has_value());
  EXPECT_THROW(area_under(curve(), 10, 10), Error);
  EXPECT_THROW(area_under(curve(), 10, kNaN), Error);
}

TEST(Curve, LateNoiseIsAboutTheLeastSquaresLine) {
  // X, Y = x[-k:], y[-k:]; r = st.linregress(X, Y); e = Y - r.intercept - r.slope * X: r.slope,
  // st.linregress(np.arange(k), Y).slope, math.sqrt((e**2).sum() / (k - 2)), Y.std(ddof=1)
  const LateNoise three = late_noise(curve(), 3);
  EXPECT_EQ(three.evaluations, 3U);
  expect_close(three.slope, -0.0003928571428571426);
  expect_close(three.slope_per_evaluation, -0.1499999999999999);
  expect_close(three.residual_sd, 0.24053511772118188);
  expect_close(three.sd, 0.2081665999466132);
  const LateNoise four = late_noise(curve(), 4);
  expect_close(four.slope, -0.00055);
  expect_close(four.slope_per_evaluation, -0.17);
  expect_close(four.residual_sd, 0.18234582528810472);
  expect_close(four.sd, 0.25);
  const LateNoise six = late_noise(curve(), 6);
  expect_close(six.slope, -0.0017628865979381447);
  expect_close(six.residual_sd, 0.6088691562926604);
  expect_close(six.sd, 0.8938679992034617);
}

TEST(Curve, LateNoiseNeedsThreeEvaluations) {
  for (const std::size_t k : {0U, 1U, 2U, 7U}) {
    const LateNoise none = late_noise(curve(), k);
    EXPECT_EQ(none.evaluations, 0U);
    EXPECT_TRUE(std::isnan(none.slope) && std::isnan(none.slope_per_evaluation));
    EXPECT_TRUE(std::isnan(none.residual_sd) && std::isnan(none.sd));
  }
  EXPECT_TRUE(std::isnan(late_noise(curve_of({0, 1, 2}, {1, kNaN, 2}), 3).sd));
}

TEST(Curve, ALineHasASlopeAndNoNoise) {
  std::vector<double> x;
  std::vector<double> y;
  for (int i = 0; i < 9; ++i) {
    x.push_back(1e18 + 1e12 * i);  // FLOPs: a small part of what was spent before
    y.push_back(2 - .25 * i);
  }
  const LateNoise line = late_noise(curve_of(x, y), 5);
  EXPECT_NEAR(line.slope, -.25e-12, 1e-24);
  EXPECT_EQ(line.slope_per_evaluation, -.25);
  EXPECT_NEAR(line.residual_sd, 0, 1e-12);
  EXPECT_GT(line.sd, .3);
}

TEST(Curve, SlopeOfAWindowIncludesItsEnds) {
  expect_close(window_slope(curve(), 100, 400),
               -0.003357142857142857);  // linregress(x[1:4], y[1:4])
  expect_close(window_slope(curve(), 99, 401), -0.003357142857142857);
  expect_close(window_slope(curve(), 150, 800), -0.00025);  // np.polyfit(x[2:5], y[2:5], 1)[0]
  expect_close(window_slope(curve(), 0, 100), -.01);
  EXPECT_TRUE(std::isnan(window_slope(curve(), 50, 150)));
  EXPECT_TRUE(std::isnan(window_slope(curve(), 110, 150)));
  EXPECT_TRUE(std::isnan(window_slope(curve(), 2000, 3000)));
  EXPECT_THROW(window_slope(curve(), 100, 100), Error);
}

TEST(Curve, NoEvaluationsAreNoCurve) {
  for (const EvaluationCurve& none : {curve_of({}, {}), curve_of({1, 2, 3}, {kNaN, kNaN, kNaN})}) {
    EXPECT_EQ(none.size(), 0U);
    EXPECT_FALSE(value_at(none, 1).has_value());
    EXPECT_FALSE(area_under(none, 1, 2).has_value());
    EXPECT_FALSE(steps_to_target(none, 9, kMinimize).reached);
    EXPECT_TRUE(std::isnan(steps_to_target(none, 9, kMinimize).at));
    EXPECT_TRUE(std::isnan(late_noise(none, 3).sd) && std::isnan(window_slope(none, 0, 9)));
  }
}

TEST(Curve, OneEvaluationIsAPoint) {
  const EvaluationCurve point = curve_of({5}, {2});
  EXPECT_EQ(value_at(point, 5), 2);
  EXPECT_FALSE(value_at(point, 5.1).has_value());
  EXPECT_FALSE(area_under(point, 5, 6).has_value());
  expect_reached(steps_to_target(point, 2, kMinimize), 5);
  EXPECT_EQ(steps_to_target(point, 1, kMinimize).at, 5);
  EXPECT_TRUE(std::isnan(late_noise(point, 3).slope) && std::isnan(window_slope(point, 0, 9)));
}

Reached hit(double at) {
  return {.reached = true, .at = at};
}

Reached stopped(double at) {
  return {.reached = false, .at = at};
}

using Times = std::vector<Reached>;

TEST(CensoredComparison, WithoutCensoringIsThatOfTheDifferences) {
  const CensoredComparison c = censored_comparison(Times{hit(100), hit(90), hit(80), hit(70)},
                                                   Times{hit(120), hit(80), hit(100), hit(70)});
  EXPECT_EQ(c.pairs, 4U);
  EXPECT_EQ(c.reached_both, 4U);
  EXPECT_EQ(c.signs.below, 2U);
  EXPECT_EQ(c.signs.above, 1U);
  EXPECT_EQ(c.signs.ties, 1U);
  EXPECT_EQ(c.signs.p, 1);  // st.binomtest(1, 3, .5).pvalue
  EXPECT_EQ(c.mean, -7.5);
  EXPECT_EQ(c.restricted, -7.5);
  EXPECT_EQ(c.low, -7.5);
  EXPECT_EQ(c.high, -7.5);
}

TEST(CensoredComparison, OneThatNeverReachedIsTheLaterOne) {
  const CensoredComparison c = censored_comparison(
      Times{hit(100), stopped(200), hit(80), hit(70), hit(60), stopped(200), hit(50)},
      Times{hit(120), hit(150), stopped(200), stopped(200), hit(75), stopped(200), hit(55)});
  EXPECT_EQ(c.reached_a, 5U);
  EXPECT_EQ(c.reached_b, 4U);
  EXPECT_EQ(c.reached_both, 3U);
  EXPECT_EQ(c.signs.below, 5U);
  EXPECT_EQ(c.signs.above, 1U);
  EXPECT_EQ(c.signs.ties, 1U);
  EXPECT_NEAR(c.signs.p, 0.21875, 1e-14);  // st.binomtest(1, 6, .5).pvalue
  EXPECT_EQ(c.undecided, 0U);
  EXPECT_TRUE(std::isnan(c.mean));
  expect_close(c.restricted, -240.0 / 7);  // (-20 + 50 - 120 - 130 - 15 + 0 - 5) / 7
  EXPECT_EQ(c.low, -kInfinity);
  EXPECT_EQ(c.high, kInfinity);
}

TEST(CensoredComparison, BudgetsBoundTheMeanFromOneSide) {
  const Times all = {hit(100), hit(150)};
  const Times some = {hit(120), stopped(200)};
  const CensoredComparison later = censored_comparison(some, all);
  EXPECT_TRUE(std::isnan(later.mean));
  EXPECT_EQ(later.restricted, 35);
  EXPECT_EQ(later.low, 35);  // a's second time is above 200
  EXPECT_EQ(later.high, kInfinity);
  const CensoredComparison earlier = censored_comparison(all, some);
  EXPECT_EQ(earlier.low, -kInfinity);
  EXPECT_EQ(earlier.high, -35);
  EXPECT_EQ(earlier.signs.below, 2U);
}

TEST(CensoredComparison, BudgetsThatDifferLeaveOrdersOpen) {
  const CensoredComparison c = censored_comparison(
      Times{stopped(100), stopped(100), hit(50), stopped(100), hit(101), hit(100)},
      Times{stopped(200), hit(150), stopped(60), hit(100), stopped(100), stopped(100)});
  EXPECT_EQ(c.pairs, 6U);
  EXPECT_EQ(c.undecided, 3U);  // the first two and the fifth
  EXPECT_EQ(c.signs.below, 2U);
  EXPECT_EQ(c.signs.above, 1U);
  EXPECT_EQ(c.signs.ties, 0U);
}

TEST(CensoredComparison, PairsWithoutNumbersAreCounted) {
  const CensoredComparison c =
      censored_comparison(Times{hit(10), Reached{}, hit(30)}, Times{hit(20), hit(20), hit(kNaN)});
  EXPECT_EQ(c.pairs, 1U);
  EXPECT_EQ(c.missing, 2U);
  EXPECT_EQ(c.reached_a, 1U);
  EXPECT_EQ(c.mean, -10);
  EXPECT_TRUE(std::isnan(c.signs.p));  // one pair
  const CensoredComparison none = censored_comparison({}, {});
  EXPECT_EQ(none.pairs, 0U);
  EXPECT_TRUE(std::isnan(none.mean) && std::isnan(none.restricted));
  EXPECT_TRUE(std::isnan(none.low) && std::isnan(none.high) && std::isnan(none.signs.p));
  EXPECT_THROW(censored_comparison(Times{hit(1)}, {}), Error);
}

}  // namespace curve_test
}  // namespace depthgrid
