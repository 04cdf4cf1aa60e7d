#include "sweeps/compare/contrast.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/error.hpp"

namespace depthgrid {
namespace contrast_test {

// Expected values: scipy 1.17.1 (st = scipy.stats) and statsmodels 0.15.0, by the expressions
// beside them, with d = numpy.array(kD) and so on. Where a root is needed: scipy.optimize.brentq
// with xtol=1e-14.
constexpr double kStatistic = 1e-10, kPower = 1e-6;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

const std::vector<double> kA = {2.3810, 2.3825, 2.3790, 2.3841, 2.3822, 2.3836, 2.3801, 2.3829};
const std::vector<double> kB = {2.3874, 2.3887, 2.3861, 2.3835, 2.3881, 2.3879, 2.3868, 2.3840};
const std::vector<double> kD = {-.0064, -.0062, -.0071, .0006, -.0059, -.0043, -.0067, -.0011};
const std::vector<double> kE = {0.4, -0.7, 1.1, 0.2, -0.3};
const std::vector<double> kF = {.3,  -.1, .4,  .1,  -.5, .9,  .2,   -.2, .6,  .1,
                                -.3, .8,  .05, -.4, .7,  .15, -.25, .35, .45, -.6};

void expect_limits(const ConfidenceLimits& limits, double low, double high, double tolerance) {
  EXPECT_NEAR(limits.low, low, tolerance);
  EXPECT_NEAR(limits.high, high, tolerance);
}

TEST(Contrast, HasStudentsTIntervalAndP) {
  const PairedContrast c = paired_contrast(kD);  // st.ttest_1samp(d, 0)
  EXPECT_EQ(c.n, 8U);
  EXPECT_EQ(c.degrees, 7);
  EXPECT_NEAR(c.mean, -0.0046375, 1e-14);
  EXPECT_NEAR(c.sd, 0.0028665247750044452, 1e-14);
  EXPECT_NEAR(c.t, -4.575865140042307, kStatistic);
  EXPECT_NEAR(c.p, 0.00255626867359658, kStatistic);
  expect_limits(c.interval, -0.007033974684273617, -0.002241025315726383, 1e-13);
  // st.ttest_1samp(d, 0).confidence_interval(.99)
  expect_limits(t_interval(c, 0.99), -0.008184119774575102, -0.001090880225424899, 1e-13);
  const MeanDifference known = paired_difference(kA, kB);  // of statistics.hpp
  expect_limits(c.interval, known.low, known.high, 1e-14);
}

TEST(Contrast, StandardisesByTheSpreadOfTheDifferencesWithTheIntervalOfANoncentralT) {
  // dz = d.mean()/d.std(ddof=1); limits: brentq(lambda D: st.nct.cdf(t, 7, D) - q, -5, 30)/sqrt(8),
  // q = .025 and .975; g: times 1 - 3/27
  const PairedEffect clear = paired_effect(paired_contrast(kD));
  EXPECT_NEAR(clear.d_z, -1.617812635159523, kStatistic);
  expect_limits(clear.d_z_interval, -2.6770047257696303, -0.5152358024336061, kStatistic);
  EXPECT_NEAR(clear.g, -1.4380556756973537, kStatistic);
  expect_limits(clear.g_interval, -2.3795597562396713, -0.45798737994098326, kStatistic);
  const PairedEffect unclear = paired_effect(paired_contrast(kE));
  EXPECT_NEAR(unclear.d_z, 0.2035623544158069, kStatistic);
  expect_limits(unclear.d_z_interval, -0.6953720553058262, 1.078692578736003, kStatistic);
}

TEST(Contrast, EffectsOfAnySizeHaveAnInterval) {
  double last = 0;
  for (const double shift : {0.0, 0.1, 1.0, 10.0, 300.0, 500.0, 1e3, 1e4, 1e8}) {
    std::vector<double> d = kE;
    for (double& x : d) x += shift * 0.6877 - 0.14;  // sd .6877
    const PairedEffect e = paired_effect(paired_contrast(d));
    EXPECT_LT(e.d_z_interval.low, e.d_z);
    EXPECT_GT(e.d_z_interval.high, e.d_z);
    EXPECT_GE(e.d_z_interval.high, last);
    last = e.d_z_interval.high;
    if (shift < 400) continue;
    // For large t the limits are d_z times sqrt(st.chi2.ppf([.025, .975], 4) / 4).
    EXPECT_NEAR(e.d_z_interval.low / e.d_z, 0.34800091849, 1e-5);
    EXPECT_NEAR(e.d_z_interval.high / e.d_z, 1.66907809747, 1e-5);
  }
}

TEST(Contrast, CanBeStandardisedByTheSpreadOfTheArms) {
  // (1 - 3/27) * (A - B).mean() / np.sqrt((A.var(ddof=1) + B.var(ddof=1)) / 2)
  EXPECT_NEAR(hedges_g_av(kA, kB), -2.2432898478980667, kStatistic);
  EXPECT_TRUE(std::isnan(hedges_g_av(std::span(kA).first(2), std::span(kB).first(2))));
  EXPECT_TRUE(std::isnan(hedges_g_av(std::vector<double>{1, 1, 1}, std::vector<double>{2, 2, 2})));
  EXPECT_THROW(hedges_g_av(kA, kE), Error);
}

TEST(Contrast, SignFlipsOfUpToTwentyPairsAreAllCounted) {
  // st.permutation_test((d,), np.sum, permutation_type="samples", n_resamples=np.inf)
  const SignFlipTest eight = sign_flip_test(kD);
  EXPECT_TRUE(eight.exact);
  EXPECT_EQ(eight.flips, 256U);
  EXPECT_EQ(eight.p, 0.015625);
  EXPECT_EQ(eight.smallest, 2.0 / 256);
  EXPECT_NEAR(sign_flip_test(kF).p, 0.1784820556640625, 1e-15);
  EXPECT_EQ(sign_flip_test(kF).flips, 1048576U);
  EXPECT_EQ(sign_flip_test(std::vector<double>{1, 2, 3, -1, -2, 0}).p, 0.6875);
}

TEST(Contrast, SumsThatDifferByRoundingAreEqual) {
  EXPECT_EQ(sign_flip_test(std::vector<double>{.1, .2, -.3, .4}).p, 0.625);  // as above
  EXPECT_EQ(sign_flip_test(std::vector<double>{.1, .2, -.3}).p, 1);  // .1 + .2 - .3 is not 0 here
}

TEST(Contrast, FiveSeedsCannotFallBelowTheSmallestPOfTheirFlips) {
  const SignFlipTest five = sign_flip_test(std::vector<double>{1, 2, 3, 4, 5});
  EXPECT_EQ(five.p, 0.0625);
  EXPECT_EQ(five.smallest, 0.0625);
  EXPECT_EQ(sign_flip_test(std::vector<double>{1, 2, 3, 4, 0}).smallest, 0.125);
  EXPECT_EQ(sign_flip_test(std::vector<double>{0, 0}).p, 1);
  EXPECT_EQ(sign_flip_test(std::vector<double>{0, 0}).smallest, 1);
}

TEST(Contrast, MoreSignFlipsAreDrawnAndTheDrawsCanBeRepeated) {
  std::vector<double> d = kF;
  d.insert(d.end(), {.2, -.1, .5, -.3});
  // All 2^24 flips (NumPy, the same count): p = 0.1523219347
  const SignFlipTest drawn = sign_flip_test(d);
  EXPECT_FALSE(drawn.exact);
  EXPECT_EQ(drawn.flips, kRandomFlips);
  EXPECT_NEAR(drawn.p, 0.1523219347, 4 * std::sqrt(0.1523 * 0.8477 / kRandomFlips));
  EXPECT_EQ(drawn.p, sign_flip_test(d).p);
  EXPECT_NE(drawn.p, sign_flip_test(d, 1).p);
  const std::vector<double> clear(70, 1.0);  // more than one word of signs
  EXPECT_EQ(sign_flip_test(clear).p, 1.0 / (kRandomFlips + 1));
  EXPECT_EQ(sign_flip_test(clear).smallest, 1.0 / (kRandomFlips + 1));
  std::vector<double> far(70, .001);  // signs of the second word are not those of the first
  std::fill_n(far.begin(), 6, 1);
  std::fill_n(far.end() - 6, 6, -1);
  EXPECT_NEAR(sign_flip_test(far).p, 1 - 924.0 / 4096, .006);  // 12 ones seldom cancel
}

TEST(Contrast, SignsAreTestedWithoutTies) {
  const SignTest eight = sign_test(kD);  // st.binomtest(7, 8, .5).pvalue
  EXPECT_EQ(eight.below, 7U);
  EXPECT_EQ(eight.above, 1U);
  EXPECT_NEAR(eight.p, 0.0703125, kStatistic);
  std::vector<double> ties(12, 1);
  std::fill_n(ties.begin(), 3, -kInfinity);  // never reached by the baseline
  ties.insert(ties.end(), 4, 0);
  EXPECT_EQ(sign_test(ties).ties, 4U);
  EXPECT_NEAR(sign_test(ties).p, 0.14599609375, kStatistic);  // st.binomtest(3, 12, .5).pvalue
  EXPECT_EQ(sign_test(std::vector<double>{1, -1}).p, 1);
  EXPECT_EQ(sign_test(std::vector<double>{0, 0, 0}).p, 1);
}

TEST(Contrast, ImprovementIsAShareOfPairsWithWilsonsInterval) {
  // proportion_confint(k, 8, .05, "wilson") with k = 7, 6.5 (a tie), 8; then (7, 8, .1)
  const ImprovementShare eight = improvement_share(kD);
  EXPECT_EQ(eight.share, 7.0 / 8);
  expect_limits(eight.interval, 0.5291118177871466, 0.9775825085499434, kStatistic);
  std::vector<double> tie = kD;
  tie.back() = 0;
  EXPECT_EQ(improvement_share(tie).share, 6.5 / 8);
  expect_limits(improvement_share(tie).interval, 0.4667891857470904, 0.9554560862004845,
                kStatistic);
  expect_limits(improvement_share(std::vector<double>(8, -kInfinity)).interval, 0.6755924351161198,
                1, kStatistic);
  expect_limits(improvement_share(kD, 0.9).interval, 0.5888566256699876, 0.9716006762621898,
                kStatistic);
}

TEST(Contrast, EquivalenceIsTestedFromBothSides) {
  const PairedContrast c = paired_contrast(kD);
  const EquivalenceTest wide = equivalence_test(c, 0.008);  // ttost_paired(A, B, -.008, .008)
  EXPECT_NEAR(wide.p, 0.00640172675747025, kStatistic);
  EXPECT_NEAR(wide.p_above, 0.00640172675747025, kStatistic);
  EXPECT_NEAR(wide.p_below, 2.456222744745106e-06, kStatistic);
  EXPECT_NEAR(equivalence_test(c, 0.003).p, 0.9249074126783143, kStatistic);
  const ConfidenceLimits ninety = t_interval(c, 0.9);
  EXPECT_NEAR(equivalence_test(c, -ninety.low).p, 0.05, kStatistic);  // 1 − 2α just touches −δ
  EXPECT_THROW(equivalence_test(c, 0), Error);
}

TEST(Contrast, PowerIsThatOfTheNoncentralT) {
  // TTestPower().power(d_z, n, alpha)
  EXPECT_NEAR(paired_t_power(1, 5, .05), 0.4013899173717948, kPower);
  EXPECT_NEAR(paired_t_power(-1, 8, .05), 0.6808339582062661, kPower);
  EXPECT_NEAR(paired_t_power(1.5, 8, .05), 0.9509518161502247, kPower);
  EXPECT_NEAR(paired_t_power(2, 5, .05 / 3), 0.6816008669926062, kPower);
  EXPECT_NEAR(paired_t_power(.2, 30, .05), 0.18518338712591942, kPower);
  EXPECT_NEAR(paired_t_power(1, 2, .05), 0.09280915505633597, kPower);
  EXPECT_NEAR(paired_t_power(3, 8, .001), 0.9658209647435384, kPower);
  EXPECT_NEAR(paired_t_power(0, 8, .05), 0.05, kPower);
  EXPECT_EQ(paired_t_power(1e6, 8, .05), 1);
}

TEST(Contrast, SmallestDetectableEffectHasThePowerAskedFor) {
  // D: brentq(lambda D: st.nct.sf(c, n-1, D) + st.nct.cdf(-c, n-1, D) - power, 0, 200) / sqrt(n),
  // c = st.t.isf(alpha/2, n-1)
  EXPECT_NEAR(detectable_effect(2, 1, .05), 11.549888435882336, kPower);
  EXPECT_NEAR(detectable_effect(3, 1, .05), 3.2640435496995743, kPower);
  EXPECT_NEAR(detectable_effect(5, 1, .05), 1.6819969659555551, kPower);
  EXPECT_NEAR(detectable_effect(8, .003, .05), .003 * 1.1560346779947337, kPower * .003);
  EXPECT_NEAR(detectable_effect(20, 1, .05), 0.6604416546230267, kPower);
  EXPECT_NEAR(detectable_effect(8, 1, .05 / 3, .9), 1.656777426817801, kPower);
  EXPECT_NEAR(paired_t_power(detectable_effect(7, 1, .01), 7, .01), 0.8, 1e-9);
  EXPECT_EQ(detectable_effect(7, 1, .05, .04), 0);  // α alone has more power
}

TEST(Contrast, PairsNeededIsWhereThePowerIsReached) {
  // brentq(lambda n: TTestPower().power(d_z, n, alpha) - power, 2, 2 + 30/d_z**2); solve_power()
  // stops within 3e-6 of these.
  EXPECT_NEAR(pairs_needed(1, 1, .05), 9.937849937824604, kPower);
  EXPECT_NEAR(pairs_needed(-.0015, .003, .05), 33.36712895333085, kPower);
  EXPECT_NEAR(pairs_needed(2, 1, .05), 4.2207191932492885, kPower);
  EXPECT_NEAR(pairs_needed(1, 1, .01, .9), 18.30345717077739, kPower);
  EXPECT_NEAR(pairs_needed(.01, 1, .05), 78490.52584432198, 1e-3);
  EXPECT_EQ(pairs_needed(1e4, 1, .05), 2);
  EXPECT_EQ(pairs_needed(0, 1, .05), kInfinity);
  EXPECT_EQ(pairs_needed(1e-7, 1, .05), kInfinity);
}

TEST(Contrast, OnePairHasAMeanAndNothingElse) {
  for (const std::vector<double>& d : {std::vector<double>{}, std::vector<double>{-.5}}) {
    const PairedContrast c = paired_contrast(d);
    EXPECT_EQ(c.n, d.size());
    EXPECT_EQ(std::isnan(c.mean), d.empty());
    EXPECT_TRUE(std::isnan(c.sd) && std::isnan(c.degrees));
    EXPECT_TRUE(std::isnan(c.interval.low) && std::isnan(c.p));
    EXPECT_TRUE(std::isnan(paired_effect(c).d_z));
    EXPECT_TRUE(std::isnan(equivalence_test(c, 1).p));
    EXPECT_TRUE(std::isnan(sign_flip_test(d).p) && std::isnan(sign_test(d).p));
    EXPECT_TRUE(std::isnan(improvement_share(d).interval.low));
  }
  EXPECT_TRUE(std::isnan(detectable_effect(1, 1, .05)) && std::isnan(paired_t_power(1, 1, .05)));
}

TEST(Contrast, TwoPairsHaveAnEffectSizeButNoUnbiasedOne) {
  const PairedEffect e = paired_effect(paired_contrast(std::vector<double>{1, 2}));
  EXPECT_NEAR(e.d_z, 1.5 * std::numbers::sqrt2, 1e-14);
  EXPECT_GT(e.d_z_interval.high, e.d_z);
  EXPECT_TRUE(std::isnan(e.g) && std::isnan(e.g_interval.low));
}

TEST(Contrast, WithoutSpreadOnlySignsAreTested) {
  for (const double x : {0.0, -.1}) {
    const std::vector<double> d(6, x);
    const PairedContrast c = paired_contrast(d);
    EXPECT_NEAR(c.interval.high - c.interval.low, 0, 1e-15);
    EXPECT_TRUE(std::isnan(c.t) && std::isnan(c.p));
    EXPECT_TRUE(std::isnan(paired_effect(c).g) && std::isnan(equivalence_test(c, 1).p));
    EXPECT_EQ(sign_test(d).p, x == 0 ? 1 : 2.0 / 64);
    EXPECT_EQ(sign_flip_test(d).p, x == 0 ? 1 : 2.0 / 64);
  }
  EXPECT_TRUE(std::isnan(detectable_effect(5, 0, .05)) && std::isnan(pairs_needed(1, 0, .05)));
  const std::vector<double> rounded = {0.3, 0.1 + 0.2, 0.3, 0.3};
  EXPECT_TRUE(std::isnan(paired_contrast(rounded).p));
}

TEST(Contrast, WhatIsNoNumberGivesNoP) {
  std::vector<double> d = kD;
  d[3] = kNaN;
  EXPECT_TRUE(std::isnan(paired_contrast(d).mean) && std::isnan(paired_contrast(d).p));
  EXPECT_TRUE(std::isnan(sign_flip_test(d).p) && std::isnan(sign_test(d).p));
  EXPECT_TRUE(std::isnan(improvement_share(d).share));
  d[3] = kInfinity;
  EXPECT_TRUE(std::isnan(paired_contrast(d).mean) && std::isnan(sign_flip_test(d).p));
  EXPECT_NEAR(sign_test(d).p, 0.0703125, kStatistic);
  EXPECT_THROW(paired_contrast(kD, 1), Error);
  EXPECT_THROW(paired_t_power(1, 8, 0), Error);
}

TEST(Contrast, IntervalsOfNormalDifferencesHoldTheirMeanAsOftenAsTheySay) {
  constexpr int kSamples = 10'000;
  std::mt19937_64 words(7);
  const auto unit = [&] { return (static_cast<double>(words() >> 11U) + 0.5) * 0x1p-53; };
  int held = 0;
  for (int sample = 0; sample < kSamples; ++sample) {
    std::vector<double> d(5);
    for (double& x : d) {  // Box and Muller: the same numbers with every library
      x = 1 + std::sqrt(-2 * std::log(unit())) * std::cos(2 * std::numbers::pi * unit());
    }
    const ConfidenceLimits limits = paired_contrast(d).interval;
    if (limits.low <= 1 && 1 <= limits.high) ++held;
  }
  EXPECT_NEAR(held / static_cast<double>(kSamples), 0.95, 3 * std::sqrt(.95 * .05 / kSamples));
}

}  // namespace contrast_test
}  // namespace depthgrid
