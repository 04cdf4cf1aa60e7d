#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/base/nan.hpp"
#include "sweeps/compare/contrast.hpp"

namespace depthgrid {

// How many seeds a comparison needs for an interval of a given width: Stein's two stages, for the
// paired differences (arm − baseline, one a seed, unit of the metric) of arms with a common
// baseline. Pure functions.
//
// Stage one has n0 seeds; of each contrast they give the standard deviation s of the differences,
// and nothing else of them may be used to choose n:
//   n = max over contrasts of max(n0, ⌈(t s / W)²⌉),  t = t(1 − α/2; n0 − 1), α = 1 − confidence.
// Stage two trains the n − n0 further seeds, whatever they show. The interval is then
//   mean of all n differences ± t s / √n,  with the s and the degrees of freedom of stage one.
//
// Why that s, though n seeds would estimate σ better: n is a function of the s of stage one, which
// are independent of all means there (joint normality) and of stage two. Given them, the mean is
// N(μ, σ²/n), so √n (mean − μ) / σ is standard normal and independent of s, and √n (mean − μ) / s
// has exactly Student's distribution with n0 − 1 degrees: the coverage is 1 − α whatever σ is, and
// the half-width is never above W. The s of all n seeds is not independent of n (few seeds are
// trained where the first s was too small by chance), so its interval has another coverage and may
// be wider than W. The price is seeds: about (t / z)² times those that a known σ would need, z the
// normal quantile; at 95 % 2.0 for n0 = 5, 1.3 for n0 = 10.
//
// Conditions:
// - The differences of one seed are normal, jointly so over the contrasts; seeds are independent
//   and those of both stages trained alike.
// - No optional stopping: n is fixed once, from stage one. Adding seeds until the interval is
//   narrow enough stops where s is too small by chance and covers less than it says (Ray 1957),
//   which only vanishes as W → 0 (Chow & Robbins 1965).
// - W does not depend on what stage one shows. One in per cent of the baseline's mean does, a
//   little: see stein_half_width().
// Each interval holds its μ with probability 1 − α; that all of them hold theirs is less probable.
// For that, pass simultaneous_confidence() of multiplicity.hpp as the rule's confidence.
//
// Source: Stein, A two-sample test for a linear hypothesis whose power is independent of the
// variance, Ann. Math. Statist. 16 (1945), 243; Ray, J. R. Stat. Soc. B 19 (1957), 133; Chow &
// Robbins, Ann. Math. Statist. 36 (1965), 457.

/// Fewest seeds of stage one: below, t(n0 − 1) asks for far too many seeds.
inline constexpr std::size_t kSteinFirstSeeds = 5;

/// The rule, fixed before stage one. None of the numbers has a default that is accepted.
struct SteinRule {
  std::size_t first_seeds = 0;  // n0 ≥ 5
  double half_width = kNaN;     // W > 0, unit of the metric
  std::size_t max_seeds = 0;    // ≥ n0: more are never asked for
  double confidence = kConfidence;
};

/// max(n0, ⌈(t s / W)²⌉): seeds that one contrast of deviation s asks for, not cut at max_seeds.
/// @throws Error as stein_plan().
double stein_seeds(double sd, const SteinRule& rule);

/// What the rule can say of a contrast.
enum class SteinStatus : std::uint8_t {
  Met,          ///< the half-width is ≤ W
  NoSpread,     ///< so it is, but s ≤ 1e-12 of the mean: no normal sample, no statement of coverage
  TooWide,      ///< max_seeds do not suffice: the half-width is > W, the coverage is as stated
  TooFewPairs,  ///< fewer differences than the stage has seeds: no numbers
  NotFinite     ///< a difference or the spread is not a finite number: no numbers
};

/// One contrast after stage one.
struct SteinDemand {
  SteinStatus status = SteinStatus::TooFewPairs;
  double sd = kNaN;          // s
  double wanted = kNaN;      // max(n0, ⌈(t s / W)²⌉) for this contrast alone, not cut at max_seeds
  double half_width = kNaN;  // t s / √n with the n of the plan
};

/// What stage two has to train.
struct SteinPlan {
  std::vector<SteinDemand> contrasts;  // in the order of the argument
  std::size_t seeds = 0;  // n ≤ max_seeds, stage one included; 0: no contrast is usable
  std::optional<std::size_t> deciding;  // contrast of the largest s, the first of equals
  std::vector<std::size_t> unusable;    // contrasts without numbers: n does not account for them
  bool met = false;                     // every contrast is usable and will be no wider than W
};

/// @param first_stage  differences of each contrast, in the order in which seeds were trained. Only
/// the first n0 are examined, so that the plan is the same when asked for again after stage two.
/// @throws Error if n0 < 5, W is not a positive number, max_seeds < n0 or the confidence is not
/// between 0 and 1.
SteinPlan stein_plan(std::span<const std::vector<double>> first_stage, const SteinRule& rule);

/// The interval after stage two.
struct SteinInterval {
  SteinStatus status = SteinStatus::TooFewPairs;
  std::size_t n = 0;      // differences in the mean
  double mean = kNaN;     // of all n
  double sd = kNaN;       // s of stage one
  double degrees = kNaN;  // n0 − 1
  double half_width = kNaN;
  ConfidenceLimits interval;
};

/// @param differences  stage one first, then stage two. @param seeds  n of the plan. Differences
/// beyond n do not count: they are what optional stopping would add. Fewer than n give no interval,
/// because seeds may be missing for what they showed (a cell that diverged); where that is known
/// not to be so, pass the number that is there. @throws Error as above.
SteinInterval stein_interval(std::span<const double> differences, std::size_t seeds,
                             const SteinRule& rule);

/// W = per_cent / 100 · |mean of the baseline's values in stage one|, in the unit of the metric;
/// nothing where fewer than n0 values are there, one is not finite, or W would not be positive.
///
/// Such a W makes n depend on a mean of stage one and the coverage no longer exact. The relative
/// error of W is that of the baseline's mean, so this does not matter where the baseline's values
/// lie many standard deviations from 0 (a loss), but for a metric that comes close to 0 W must be
/// absolute. @throws Error if per_cent is not a positive number or n0 < 5.
std::optional<double> stein_half_width(double per_cent, std::span<const double> baseline,
                                       std::size_t first_seeds);

}  // namespace depthgrid
