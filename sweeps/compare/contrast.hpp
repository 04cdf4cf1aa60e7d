#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/base/nan.hpp"
#include "sweeps/compare/statistics.hpp"

namespace depthgrid {

// One contrast of two arms: what the differences d_1 … d_n of its pairs say (d = arm − baseline,
// one pair a seed, unit of the metric). Pure functions; ν = n − 1, α the two-sided level.
//
// What is not defined is NaN: means need a pair, spreads and intervals two, and no p is ever given
// for one pair. Differences without spread (sd ≤ 1e-12 of the mean) have an interval of width zero
// but neither t nor a p of t, effect size or equivalence; the tests of signs remain. A difference
// that is no finite number makes all numbers NaN, except where infinite ones are said to count.
// Levels, powers and confidences outside (0, 1) throw Error.

/// Limits of an interval, in the unit of what it bounds.
struct ConfidenceLimits {
  double low = kNaN, high = kNaN;

  double half_width() const { return (high - low) / 2; }
};

/// Mean of the differences, with Student's t: t = mean / standard_error on ν degrees of freedom.
struct PairedContrast {
  std::size_t n = 0;  // pairs
  double mean = kNaN;
  double sd = kNaN;              // of the differences, n − 1 in the denominator
  double standard_error = kNaN;  // sd / √n
  double degrees = kNaN;
  ConfidenceLimits interval;  // mean ± t(1 − α/2; ν) · standard_error
  double t = kNaN;
  double p = kNaN;  // two-sided
};

/// Source: "Student", Biometrika 6 (1908). SciPy: ttest_1samp.
PairedContrast paired_contrast(std::span<const double> differences,
                               double confidence = kConfidence);

/// The interval of a contrast at another confidence, e.g. a simultaneous one.
ConfidenceLimits t_interval(const PairedContrast& contrast, double confidence);

/// Standardised mean difference of pairs: d_z = mean / sd of the differences; Hedges' g = J · d_z
/// with J = 1 − 3 / (4ν − 1).
///
/// Both divide by the spread of the differences, so they say how clear a difference is from seed to
/// seed, and grow with the correlation of a pair; hedges_g_av() divides by the spread of the arms.
/// d_z √n is noncentral t: its limits are those noncentralities, over √n, at which t is
/// the upper or the lower α/2 quantile. Those of g are J times them. J is 0 for two pairs: no g.
/// Source: Hedges, J. Educ. Stat. 6 (1981): J is within .008 of the exact factor for ν ≥ 2, .003
/// for ν ≥ 4; interval: Cumming & Finch, Educ. Psychol. Meas. 61 (2001); names: Lakens, Front.
/// Psychol. 4 (2013).
struct PairedEffect {
  double d_z = kNaN;
  ConfidenceLimits d_z_interval;
  double g = kNaN;
  ConfidenceLimits g_interval;
};

PairedEffect paired_effect(const PairedContrast& contrast, double confidence = kConfidence);

/// g_av = J · mean(a − b) / √((s_a² + s_b²) / 2), J as above: comparable with unpaired designs.
/// Needs three pairs and some spread. Source: Lakens (2013); the root mean square instead
/// of the mean of the two deviations: Cumming, Understanding the New Statistics (2012).
/// @throws Error if the sizes differ.
double hedges_g_av(std::span<const double> a, std::span<const double> b);

/// Permutation test that flips the signs of the differences: exact if they are symmetric about 0.
struct SignFlipTest {
  double p = kNaN;         // two-sided, of |Σ ±d| ≥ |Σ d|; equal within 1e-12 of Σ|d| counts as ≥
  double smallest = kNaN;  // that p can become with these differences
  std::size_t flips = 0;   // 2^n, or random ones
  bool exact = false;
};

/// Up to so many pairs, all 2^n flips are counted: sums of two halves of the pairs, one half
/// sorted.
inline constexpr std::size_t kExactFlips = 20;
/// Random flips above that; the standard error of a p of .05 is then .0007.
inline constexpr std::size_t kRandomFlips = 100'000;

/// p = (flips that are as extreme) / 2^n; drawn at random: (1 + as extreme) / (1 + flips).
/// Draws are a function of `key` and their number alone.
/// Source: Fisher, Design of Experiments (1935); Phipson & Smyth, Stat. Appl. Genet. Mol.
/// Biol. 9 (2010). SciPy: permutation_test(permutation_type="samples").
SignFlipTest sign_flip_test(std::span<const double> differences, std::uint64_t key = 0);

/// How many pairs went down or up, and the exact two-sided p of a fair coin without the ties.
/// Infinite differences count (one side never reached its target). SciPy: binomtest(below, n, .5).
struct SignTest {
  std::size_t below = 0, ties = 0, above = 0;
  double p = kNaN;  // 1 if all are ties
};

SignTest sign_test(std::span<const double> differences);

/// Share of pairs in which a metric that is minimised improved: (#(d < 0) + ½ #(d = 0)) / n, with
/// Wilson's interval (ties make the count fractional, which Clopper's and Pearson's does not
/// take). For a metric that is maximised, pass the negative differences. Infinite ones count.
/// Source: Agarwal et al., Deep RL at the statistical precipice, NeurIPS 2021, here of pairs;
/// Wilson, J. Am. Stat. Assoc. 22 (1927). statsmodels: proportion_confint(method="wilson").
struct ImprovementShare {
  double share = kNaN;
  ConfidenceLimits interval;  // n ≥ 2
};

ImprovementShare improvement_share(std::span<const double> differences,
                                   double confidence = kConfidence);

/// Two one-sided t tests that the mean lies within ±δ. Equivalence at level α: p < α, which is the
/// same as the interval of confidence 1 − 2α lying within ±δ.
/// Source: Schuirmann, J. Pharmacokinet. Biopharm. 15 (1987). statsmodels: ttost_paired.
struct EquivalenceTest {
  double p = kNaN;                        // the larger one
  double p_above = kNaN, p_below = kNaN;  // against mean ≤ −δ, against mean ≥ δ
};

/// @param margin  δ > 0, unit of the metric. @throws Error otherwise.
EquivalenceTest equivalence_test(const PairedContrast& contrast, double margin);

/// Power of the two-sided paired t test: P(|T| > t(1 − α/2; ν)), T noncentral t with δ = √n · d_z.
/// @param pairs  ≥ 2 (else NaN), need not be whole. statsmodels: TTestPower().power.
double paired_t_power(double d_z, double pairs, double alpha);

/// The smallest mean difference that n pairs of this spread detect with the given power, in the
/// unit of sd; NaN for fewer than two pairs or without spread. What the seeds in hand could have
/// shown: it does not depend on the mean that they show.
double detectable_effect(std::size_t n, double sd, double alpha, double power = 0.8);

/// Pairs (seeds) that detect a mean difference of `effect` with the given power: a real number ≥ 2
/// whose ceiling is the number to train; infinite if it exceeds 10^9 (an effect of 0), NaN without
/// spread. statsmodels: TTestPower().solve_power.
double pairs_needed(double effect, double sd, double alpha, double power = 0.8);

}  // namespace depthgrid
