#include "sweeps/compare/stein.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "sweeps/compare/statistics.hpp"

namespace depthgrid {
namespace stein_test {

// Expected values: NumPy and scipy 1.17.1 (st = scipy.stats) by the expressions beside them, with
// a, b = numpy.array(kA), numpy.array(kB), t = st.t.isf(.025, 4), s = a[:5].std(ddof=1).
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kRelative = 1e-12;
constexpr int kRuns = 20'000;  // a coverage of 95 % has a standard error of 0.15 %
constexpr double kLeast = .943, kMost = .957;

// Five differences of stage one, then those of stage two.
const std::vector<double> kA = {-.012, .004,  -.020, .001,  -.009, -.006, -.011,
                                .002,  -.015, -.003, -.008, .000,  -.010};
const std::vector<double> kB = {.03, -.05, .01, .06, -.02};

using Contrasts = std::vector<std::vector<double>>;

SteinRule rule_of(double half_width, std::size_t max_seeds = 200, std::size_t first_seeds = 5) {
  return {.first_seeds = first_seeds, .half_width = half_width, .max_seeds = max_seeds};
}

SteinDemand demand_of(const std::vector<double>& differences, const SteinRule& rule) {
  return stein_plan(Contrasts{differences}, rule).contrasts.at(0);
}

void expect_close(double number, double expected) {
  EXPECT_NEAR(number, expected, kRelative * std::abs(expected));
}

TEST(Stein, SeedsFollowFromTheSpreadOfTheFirstStage) {
  // max(5, math.ceil((t * s / W)**2)) = ceil of 1.844, 7.377, 29.509; with b: 35.267, 564.273
  expect_close(demand_of(kA, rule_of(.01)).sd, 0.00978263768111648);  // a[:5].std(ddof=1)
  EXPECT_EQ(demand_of(kA, rule_of(.02)).wanted, 5);
  EXPECT_EQ(demand_of(kA, rule_of(.01)).wanted, 8);
  EXPECT_EQ(demand_of(kA, rule_of(.005)).wanted, 30);
  EXPECT_EQ(demand_of(kB, rule_of(.02)).wanted, 36);
  EXPECT_EQ(demand_of(kB, rule_of(.005, 600)).wanted, 565);
  SteinRule sure = rule_of(.012);
  EXPECT_EQ(demand_of(kA, sure).wanted, 6);
  sure.confidence = .99;  // st.t.isf(.005, 4) for t
  EXPECT_EQ(demand_of(kA, sure).wanted, 15);
}

TEST(Stein, TheContrastOfTheLargestSpreadDecidesForAll) {
  const SteinPlan plan = stein_plan(Contrasts{kA, kB, kA}, rule_of(.02));
  EXPECT_EQ(plan.seeds, 36U);
  EXPECT_EQ(plan.deciding, 1U);
  EXPECT_TRUE(plan.met && plan.unusable.empty());
  // t * a[:5].std(ddof=1) / 6, t * b.std(ddof=1) / 6
  expect_close(plan.contrasts[0].half_width, 0.004526826084276558);
  expect_close(plan.contrasts[1].half_width, 0.019795359152100612);
  EXPECT_EQ(plan.contrasts[2].wanted, 5);
  EXPECT_EQ(stein_plan(Contrasts{kA, kA}, rule_of(.02)).deciding, 0U);
}

TEST(Stein, ThePlanIsTheSameAfterTheSecondStage) {
  const std::vector<double> first(kA.begin(), kA.begin() + 5);
  EXPECT_EQ(demand_of(first, rule_of(.005)).wanted, demand_of(kA, rule_of(.005)).wanted);
  EXPECT_EQ(demand_of(first, rule_of(.005)).sd, demand_of(kA, rule_of(.005)).sd);
}

TEST(Stein, TheIntervalHasTheMeanOfAllSeedsAndTheSpreadOfTheFirstStage) {
  const SteinInterval out = stein_interval(kA, 13, rule_of(.01));
  EXPECT_EQ(out.status, SteinStatus::Met);
  EXPECT_EQ(out.n, 13U);
  EXPECT_EQ(out.degrees, 4);
  expect_close(out.mean, -0.006692307692307693);        // a.mean()
  expect_close(out.half_width, 0.0075330939516770785);  // t * s / np.sqrt(13)
  expect_close(out.interval.low, -0.01422540164398477);
  expect_close(out.interval.high, 0.0008407862593693858);
  const SteinInterval eight = stein_interval(kA, 8, rule_of(.01));
  EXPECT_EQ(eight.n, 8U);
  EXPECT_EQ(eight.sd, out.sd);
  expect_close(eight.mean, -0.006375);  // a[:8].mean(): the five seeds beyond the plan do not count
}

TEST(Stein, NoSeedTooFewOrTooManyWhereTheRatioIsAWholeNumber) {
  const Contrasts d = {{1, 2, 3, 4, 5}};
  const SteinPlan any = stein_plan(d, rule_of(1));
  const double whole = any.contrasts[0].half_width * std::sqrt(any.contrasts[0].wanted);  // t s
  for (int root = 3; root < 60; ++root) {  // W = t s / root asks for root² seeds, but for rounding
    const SteinRule rule = rule_of(whole / root, 10'000);
    const SteinPlan plan = stein_plan(d, rule);
    const auto n = static_cast<double>(plan.seeds);
    EXPECT_NEAR(n, root * root, 1);
    EXPECT_LE(plan.contrasts[0].half_width, rule.half_width);
    EXPECT_GT(whole / std::sqrt(n - 1), rule.half_width * (1 - 1e-15));
  }
}

TEST(Stein, WhatNeedsMoreThanTheMostSeedsIsFlagged) {
  const SteinPlan plan = stein_plan(Contrasts{kA, kB}, rule_of(.01, 61));
  EXPECT_FALSE(plan.met);
  EXPECT_EQ(plan.seeds, 61U);
  EXPECT_EQ(plan.contrasts[0].status, SteinStatus::Met);
  EXPECT_EQ(plan.contrasts[1].status, SteinStatus::TooWide);
  EXPECT_EQ(plan.contrasts[1].wanted, 142);                          // ceil of 141.068
  expect_close(plan.contrasts[1].half_width, 0.015207216137916358);  // t*b.std(ddof=1)/np.sqrt(61)
  std::vector<double> all = kB;
  all.resize(61, .005);
  EXPECT_EQ(stein_interval(all, plan.seeds, rule_of(.01, 61)).status, SteinStatus::TooWide);
  const SteinPlan never = stein_plan(Contrasts{kB}, rule_of(1e-200, 61));
  EXPECT_EQ(never.contrasts[0].wanted, kInfinity);
  EXPECT_EQ(never.seeds, 61U);
  EXPECT_TRUE(stein_plan(Contrasts{kB}, rule_of(.01, 142)).met);
}

TEST(Stein, WithoutSpreadTheFirstStageSufficesAndSaysSo) {
  for (const std::vector<double>& d : {std::vector<double>(5), std::vector<double>(5, .1),
                                       std::vector<double>{.3, .1 + .2, .3, .3, .3}}) {
    const SteinPlan plan = stein_plan(Contrasts{d}, rule_of(.01));
    EXPECT_EQ(plan.contrasts[0].status, SteinStatus::NoSpread);
    EXPECT_EQ(plan.seeds, 5U);
    EXPECT_TRUE(plan.met);
    EXPECT_NEAR(plan.contrasts[0].half_width, 0, 1e-15);
    EXPECT_EQ(stein_interval(d, 5, rule_of(.01)).status, SteinStatus::NoSpread);
    EXPECT_NEAR(stein_interval(d, 5, rule_of(.01)).interval.low, d[0], 1e-15);
  }
}

TEST(Stein, ContrastsWithoutNumbersAreNamedAndTheOthersPlanned) {
  const std::vector<double> few(kA.begin(), kA.begin() + 4);
  std::vector<double> diverged = kB;
  diverged[2] = kNaN;
  std::vector<double> infinite = kB;
  infinite[4] = -kInfinity;
  const std::vector<double> huge = {1e300, -1e300, 1e300, 0, 0};  // its variance is no number
  const SteinPlan plan = stein_plan(Contrasts{few, kA, diverged, infinite, {}, huge}, rule_of(.01));
  EXPECT_EQ(plan.unusable, (std::vector<std::size_t>{0, 2, 3, 4, 5}));
  EXPECT_EQ(plan.contrasts[0].status, SteinStatus::TooFewPairs);
  EXPECT_EQ(plan.contrasts[2].status, SteinStatus::NotFinite);
  EXPECT_EQ(plan.contrasts[3].status, SteinStatus::NotFinite);
  EXPECT_EQ(plan.contrasts[4].status, SteinStatus::TooFewPairs);
  EXPECT_EQ(plan.contrasts[5].status, SteinStatus::NotFinite);
  EXPECT_TRUE(std::isnan(plan.contrasts[2].wanted) && std::isnan(plan.contrasts[2].half_width));
  EXPECT_EQ(plan.deciding, 1U);
  EXPECT_EQ(plan.seeds, 8U);
  EXPECT_FALSE(plan.met);
  for (const SteinPlan& none :
       {stein_plan(Contrasts{few, diverged}, rule_of(.01)), stein_plan({}, rule_of(.01))}) {
    EXPECT_FALSE(none.deciding.has_value());
    EXPECT_EQ(none.seeds, 0U);
    EXPECT_FALSE(none.met);
  }
  std::vector<double> later = kA;
  later[5] = kNaN;  // stage one is whole
  EXPECT_EQ(demand_of(later, rule_of(.01)).wanted, 8);
  EXPECT_EQ(stein_interval(later, 8, rule_of(.01)).status, SteinStatus::NotFinite);
  EXPECT_TRUE(std::isnan(stein_interval(later, 8, rule_of(.01)).interval.high));
  EXPECT_EQ(stein_interval(kB, 8, rule_of(.01)).status, SteinStatus::TooFewPairs);
  EXPECT_TRUE(std::isnan(stein_interval(kB, 8, rule_of(.01)).mean));
  EXPECT_EQ(stein_interval(few, 0, rule_of(.01)).status, SteinStatus::TooFewPairs);
}

TEST(Stein, PerCentAreOfTheBaselinesMeanInTheFirstStage) {
  const std::vector<double> baseline = {-2.0, -2.2, -1.8, -2.1, -1.9, 50};
  EXPECT_NEAR(stein_half_width(.5, baseline, 5).value_or(kNaN), .01, 1e-16);
  EXPECT_FALSE(stein_half_width(.5, baseline, 7).has_value());
  EXPECT_FALSE(stein_half_width(.5, std::vector<double>(5), 5).has_value());
  EXPECT_FALSE(stein_half_width(.5, std::vector<double>{1, 2, kNaN, 1, 2}, 5).has_value());
  EXPECT_THROW(stein_half_width(0, baseline, 5), Error);
  EXPECT_THROW(stein_half_width(kNaN, baseline, 5), Error);
  EXPECT_THROW(stein_half_width(.5, baseline, 4), Error);
}

TEST(Stein, RulesThatMeanNothingAreErrors) {
  const Contrasts stage = {kA};
  EXPECT_THROW(stein_plan(stage, SteinRule{}), Error);
  EXPECT_THROW(stein_plan(stage, rule_of(.01, 200, 4)), Error);
  EXPECT_THROW(stein_plan(stage, rule_of(.01, 4)), Error);
  for (const double width : {0.0, -.01, kNaN, kInfinity}) {
    EXPECT_THROW(stein_plan(stage, rule_of(width)), Error);
    EXPECT_THROW(stein_interval(kA, 8, rule_of(width)), Error);
  }
  SteinRule rule = rule_of(.01);
  rule.confidence = 1;
  EXPECT_THROW(stein_plan(stage, rule), Error);
}

// Normal numbers, the same with every library: Box and Muller.
class Normals {
 public:
  explicit Normals(std::uint64_t seed) : words_(seed) {}
  double next() {
    kept_ = !kept_;
    if (!kept_) return second_;
    const double radius = std::sqrt(-2 * std::log(unit()));
    const double angle = 2 * std::numbers::pi * unit();
    second_ = radius * std::sin(angle);
    return radius * std::cos(angle);
  }

 private:
  double unit() { return (static_cast<double>(words_() >> 11U) + 0.5) * 0x1p-53; }
  std::mt19937_64 words_;
  double second_ = 0;
  bool kept_ = false;
};

bool holds(const ConfidenceLimits& limits, double mean) {
  return limits.low <= mean && mean <= limits.high;
}

TEST(Stein, IntervalsHoldTheMeanAsOftenAsTheySayWhateverTheSpread) {
  Normals normals(7);
  for (const double sigma : {.2, 1., 3.}) {  // of W: no second stage, 4 further seeds, 65
    const SteinRule rule = rule_of(1, 100'000);
    int held = 0;
    double seeds = 0;
    bool wide = false;
    Contrasts d(1);
    for (int run = 0; run < kRuns; ++run) {
      d[0].clear();
      for (int i = 0; i < 5; ++i) d[0].push_back(10 + sigma * normals.next());
      const SteinPlan plan = stein_plan(d, rule);
      while (d[0].size() < plan.seeds) d[0].push_back(10 + sigma * normals.next());
      const SteinInterval out = stein_interval(d[0], plan.seeds, rule);
      if (holds(out.interval, 10)) ++held;
      wide = wide || !(out.half_width <= rule.half_width);
      seeds += static_cast<double>(plan.seeds) / kRuns;
    }
    EXPECT_FALSE(wide);
    EXPECT_GT(held, kLeast * kRuns) << sigma;
    EXPECT_LT(held, kMost * kRuns) << sigma;
    EXPECT_GE(seeds, std::max(5.0, 7.7086 * sigma * sigma));  // t² σ² / W²
    EXPECT_LE(seeds, std::max(5.0, 7.7086 * sigma * sigma) + 2);
  }
}

TEST(Stein, EachOfSeveralContrastsIsCoveredButNotAllAtOnce) {
  // Three arms with a common baseline: their differences are correlated, and the widest decides.
  // W is 0.5 % of a baseline's mean of 10 whose values spread by 1 %, as with a loss.
  Normals normals(8);
  constexpr std::array kSpread = {.02, .05, .08};
  std::array<int, 3> held = {};
  int all_held = 0;
  Contrasts d(3);
  std::vector<double> baseline;
  const auto train_seed = [&] {
    baseline.push_back(10 + .1 * normals.next());
    for (std::size_t arm = 0; arm < 3; ++arm) {
      d[arm].push_back(kSpread[arm] * normals.next() - .3 * (baseline.back() - 10));
    }
  };
  for (int run = 0; run < kRuns; ++run) {
    baseline.clear();
    for (std::vector<double>& differences : d) differences.clear();
    while (baseline.size() < 7) train_seed();
    const SteinRule rule = rule_of(stein_half_width(.5, baseline, 7).value_or(kNaN), 100'000, 7);
    const SteinPlan plan = stein_plan(d, rule);
    while (baseline.size() < plan.seeds) train_seed();
    bool all = true;
    for (std::size_t arm = 0; arm < 3; ++arm) {
      const bool one = holds(stein_interval(d[arm], plan.seeds, rule).interval, 0);
      if (one) ++held[arm];
      all = all && one;
    }
    if (all) ++all_held;
  }
  for (const int count : held) {
    EXPECT_GT(count, kLeast * kRuns);
    EXPECT_LT(count, kMost * kRuns);
  }
  EXPECT_LT(all_held, .91 * kRuns);
}

TEST(Stein, OtherIntervalsAfterAChoiceOfSeedsCoverLess) {
  // Mean 0, W = 1, σ = 2. Of 200,000 runs in NumPy the interval of all n seeds' s, with Stein's n,
  // held 92.6 % and was wider than W in 18 %; adding seeds until it is narrow enough held 91.8 %.
  Normals normals(9);
  std::vector<double> quantile(2000);  // t(.975; n − 1)
  for (std::size_t n = 2; n < quantile.size(); ++n) {
    PairedContrast unit;
    unit.mean = 0;
    unit.standard_error = 1;
    unit.degrees = static_cast<double>(n - 1);
    quantile[n] = t_interval(unit, kConfidence).high;
  }
  int pooled_held = 0;
  int pooled_wide = 0;
  int naive_held = 0;
  Contrasts d(1);
  for (int run = 0; run < kRuns; ++run) {
    d[0].clear();
    while (d[0].size() < 5) d[0].push_back(2 * normals.next());
    const std::size_t n = stein_plan(d, rule_of(1, quantile.size() - 1)).seeds;
    while (d[0].size() < n) d[0].push_back(2 * normals.next());
    const SampleSummary all = summary_of(d[0]);
    const double half = quantile[n] * all.sd / std::sqrt(static_cast<double>(n));
    if (std::abs(all.mean) <= half) ++pooled_held;
    if (half > 1) ++pooled_wide;
    double sum = 0;  // the naive rule looks at the same differences from the start
    double squares = 0;
    for (std::size_t i = 0;; ++i) {
      if (i == d[0].size()) d[0].push_back(2 * normals.next());
      sum += d[0][i];
      squares += d[0][i] * d[0][i];
      const auto count = static_cast<double>(i + 1);
      if (i + 1 < 5) continue;
      const double mean = sum / count;
      const double error = std::sqrt((squares / count - mean * mean) / (count - 1));
      if (quantile.at(i + 1) * error > 1) continue;
      if (std::abs(mean) <= quantile[i + 1] * error) ++naive_held;
      break;
    }
  }
  EXPECT_LT(naive_held, .93 * kRuns);
  EXPECT_LT(pooled_held, .935 * kRuns);
  EXPECT_GT(pooled_wide, .1 * kRuns);
}

}  // namespace stein_test
}  // namespace depthgrid
