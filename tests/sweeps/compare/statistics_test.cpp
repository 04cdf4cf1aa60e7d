#include "sweeps/compare/statistics.hpp"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/error.hpp"

namespace depthgrid {
namespace statistics_test {

// Expected values: scipy 1.17.1, ttest_rel and ttest_ind(equal_var=False),
// confidence_interval(0.95).
const std::vector<double> kA = {2.3810, 2.3825, 2.3790, 2.3841};
const std::vector<double> kB = {2.3874, 2.3887, 2.3861, 2.3880};
const std::vector<double> kC = {2.40, 2.42, 2.37};

TEST(Statistics, SummariseWithTheStandardDeviationOfThePopulation) {
  const SampleSummary a = summary_of(kA);
  EXPECT_EQ(a.n, 4U);
  EXPECT_NEAR(a.mean, 2.38165, 1e-12);
  EXPECT_NEAR(a.sd, 0.0021733231083604448, 1e-14);
}

TEST(Statistics, OneValueHasNoSpreadAndNoneHasNoMean) {
  const std::vector<double> one = {3.5};
  EXPECT_EQ(summary_of(one).mean, 3.5);
  EXPECT_TRUE(std::isnan(summary_of(one).sd));
  EXPECT_EQ(summary_of({}).n, 0U);
  EXPECT_TRUE(std::isnan(summary_of({}).mean));
}

TEST(Statistics, PairsGiveTheIntervalOfTheirDifferences) {
  const MeanDifference d = paired_difference(kA, kB);
  EXPECT_EQ(d.kind, DifferenceKind::Paired);
  EXPECT_EQ(d.n, 4U);
  EXPECT_NEAR(d.value, -0.0059, 1e-12);
  EXPECT_EQ(d.degrees, 3);
  EXPECT_NEAR(d.low, -0.008108688048162869, 1e-12);
  EXPECT_NEAR(d.high, -0.003691311951837164, 1e-12);
}

TEST(Statistics, TwoPairsUseTheCauchyQuantile) {
  // By hand: differences -.0064 and -.0062, standard error .0001, t(.975; 1) = 12.7062.
  const MeanDifference d = paired_difference(std::span(kA).first(2), std::span(kB).first(2));
  EXPECT_NEAR(d.value, -0.0063, 1e-12);
  EXPECT_NEAR(d.low, -0.0063 - 0.0001 * 12.706204736, 1e-11);
  EXPECT_NEAR(d.high, -0.0063 + 0.0001 * 12.706204736, 1e-11);
}

TEST(Statistics, IndependentSamplesGiveWelchsInterval) {
  const MeanDifference d = welch_difference(kA, kC);
  EXPECT_EQ(d.kind, DifferenceKind::Welch);
  EXPECT_EQ(d.n, 3U);
  EXPECT_NEAR(d.value, -0.0150166666666669, 1e-12);
  EXPECT_NEAR(d.degrees, 2.0223940746972007, 1e-9);
  EXPECT_NEAR(d.low, -0.07704680914158418, 1e-10);
  EXPECT_NEAR(d.high, 0.04701347580825038, 1e-10);
}

TEST(Statistics, WhatHasNoSpreadHasNoIntervalOrOneOfWidthZero) {
  const MeanDifference single = paired_difference(std::span(kA).first(1), std::span(kB).first(1));
  EXPECT_NEAR(single.value, -0.0064, 1e-12);
  EXPECT_TRUE(std::isnan(single.low) && std::isnan(single.high));
  EXPECT_TRUE(std::isnan(welch_difference(std::span(kA).first(1), kC).low));
  const std::vector<double> same = {1, 1, 1};
  EXPECT_EQ(welch_difference(same, same).low, 0);
  EXPECT_EQ(paired_difference(same, same).high, 0);
}

TEST(Statistics, SamplesOfDifferentSizesAreNoPairs) {
  EXPECT_THROW(paired_difference(kA, kC), Error);
}

}  // namespace statistics_test
}  // namespace depthgrid
