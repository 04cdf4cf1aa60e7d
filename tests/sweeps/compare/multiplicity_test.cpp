#include "sweeps/compare/multiplicity.hpp"

#include <cmath>
#include <numbers>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/error.hpp"

namespace depthgrid {
namespace multiplicity_test {

void expect_all_near(const std::vector<double>& numbers, const std::vector<double>& expected) {
  ASSERT_EQ(numbers.size(), expected.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) EXPECT_NEAR(numbers[i], expected[i], 1e-10);
}

TEST(Multiplicity, HolmsPStepsDown) {
  // statsmodels 0.15.0: multipletests(p, method="holm")[1]
  expect_all_near(holm_adjusted(std::vector<double>{.01, .04, .03, .005, .2, .04}),
                  {.05, .12, .12, .03, .2, .12});
  expect_all_near(holm_adjusted(std::vector<double>{.9, .8, .6}), {1, 1, 1});
  expect_all_near(holm_adjusted(std::vector<double>{.02}), {.02});
  EXPECT_TRUE(holm_adjusted({}).empty());
}

TEST(Multiplicity, WhatHasNoPIsNoMemberOfTheFamily) {
  const std::vector<double> p = {kNaN, .01, kNaN, .03};
  const std::vector<double> adjusted = holm_adjusted(p);
  EXPECT_EQ(family_size(p), 2U);
  EXPECT_TRUE(std::isnan(adjusted[0]) && std::isnan(adjusted[2]));
  EXPECT_NEAR(adjusted[1], .02, 1e-15);
  EXPECT_NEAR(adjusted[3], .03, 1e-15);
  EXPECT_THROW(holm_adjusted(std::vector<double>{.5, 1.5}), Error);
}

TEST(Multiplicity, SimultaneousIntervalsShareTheError) {
  const std::vector<double> d = {-.0064, -.0062, -.0071, .0006, -.0059, -.0043, -.0067, -.0011};
  const PairedContrast full = paired_contrast(d);
  const PairedContrast constant = paired_contrast(std::vector<double>{1, 1, 1});
  const PairedContrast single = paired_contrast(std::vector<double>{1});
  const auto three = simultaneous_intervals(std::vector{full, constant, full, single, full});
  // scipy 1.17.1: st.ttest_1samp(d, 0).confidence_interval(1 - .05/3)
  for (const std::size_t i : {0U, 2U, 4U}) {
    EXPECT_NEAR(three[i].low, -0.007807179006685809, 1e-12);
    EXPECT_NEAR(three[i].high, -0.0014678209933141856, 1e-12);
  }
  EXPECT_EQ(three[1].low, 1);
  EXPECT_EQ(three[1].high, 1);
  EXPECT_TRUE(std::isnan(three[3].low));
  EXPECT_EQ(simultaneous_intervals(std::vector{full})[0].low, full.interval.low);
  EXPECT_EQ(simultaneous_confidence(0), kConfidence);
}

TEST(Multiplicity, EquivalenceGoesBeforeDifference) {
  EXPECT_EQ(contrast_verdict(.001, .001), ContrastVerdict::NoEffect);
  EXPECT_EQ(contrast_verdict(.8, .049), ContrastVerdict::NoEffect);
  EXPECT_EQ(contrast_verdict(.049, .3), ContrastVerdict::Differs);
  EXPECT_EQ(contrast_verdict(.05, .05), ContrastVerdict::Undecided);
  EXPECT_EQ(contrast_verdict(.049, .3, .01), ContrastVerdict::Undecided);
}

TEST(Multiplicity, WithoutAMarginNothingIsCalledEqual) {
  EXPECT_EQ(contrast_verdict(.01), ContrastVerdict::Differs);
  EXPECT_EQ(contrast_verdict(1), ContrastVerdict::Undecided);
  EXPECT_EQ(contrast_verdict(kNaN), ContrastVerdict::Undecided);
}

TEST(Multiplicity, VerdictsHaveWords) {
  EXPECT_EQ(contrast_verdict_text(ContrastVerdict::NoEffect), "no effect beyond δ");
  EXPECT_EQ(contrast_verdict_text(ContrastVerdict::Differs), "differs");
  EXPECT_EQ(contrast_verdict_text(ContrastVerdict::Undecided), "undecided");
}

TEST(Multiplicity, FamiliesWithoutEffectAreRarelyRejectedAndTheirIntervalsHold) {
  constexpr int kFamilies = 4'000, kContrasts = 3, kSeeds = 5;
  std::mt19937_64 words(11);
  const auto normal = [&] {
    const auto unit = [&] { return (static_cast<double>(words() >> 11U) + 0.5) * 0x1p-53; };
    return std::sqrt(-2 * std::log(unit())) * std::cos(2 * std::numbers::pi * unit());
  };
  int rejected = 0;
  int missed = 0;
  for (int family = 0; family < kFamilies; ++family) {
    std::vector<double> baseline(kSeeds);
    for (double& x : baseline) x = normal();
    std::vector<PairedContrast> contrasts;
    std::vector<double> p;
    for (int i = 0; i < kContrasts; ++i) {  // arms share a baseline, so contrasts correlate
      std::vector<double> d(kSeeds);
      for (std::size_t s = 0; s < d.size(); ++s) d[s] = normal() - baseline[s];
      contrasts.push_back(paired_contrast(d));
      p.push_back(contrasts.back().p);
    }
    bool any = false;
    for (const double adjusted : holm_adjusted(p)) any = any || adjusted < kVerdictLevel;
    bool outside = false;
    for (const auto& limits : simultaneous_intervals(contrasts)) {
      outside = outside || limits.low > 0 || limits.high < 0;
    }
    rejected += any ? 1 : 0;
    missed += outside ? 1 : 0;
  }
  EXPECT_EQ(rejected, missed);  // without effects, Holm's first step is Bonferroni's
  EXPECT_LE(rejected, kFamilies * .05 + 3 * std::sqrt(kFamilies * .05 * .95));
  EXPECT_GE(rejected, kFamilies * .03);  // and not because nothing is ever rejected
}

}  // namespace multiplicity_test
}  // namespace depthgrid
