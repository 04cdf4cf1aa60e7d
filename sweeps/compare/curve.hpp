#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/base/nan.hpp"
#include "sweeps/compare/contrast.hpp"

namespace depthgrid {

// What the evaluations of one cell say between and beyond each other, and how two arms compare in
// the time to a target. Pure functions. x: steps, FLOPs or seconds, one unit for all curves that
// are compared; y: the metric. Between two evaluations a curve is the straight line, so what is
// read off depends on where evaluations lie: compare curves with the same ones.

/// Evaluations of one cell, x ascending. Those whose y is not finite (NaN: not measured, ±∞:
/// diverged) are dropped, which lets the line run from one neighbour to the other.
class EvaluationCurve {
 public:
  /// @throws Error if the sizes differ, an x is not finite or is not above the one before it.
  EvaluationCurve(std::span<const double> x, std::span<const double> y);

  const std::vector<double>& x() const noexcept { return x_; }
  const std::vector<double>& y() const noexcept { return y_; }
  std::size_t size() const noexcept { return x_.size(); }
  std::size_t dropped() const noexcept { return dropped_; }

 private:
  std::vector<double> x_, y_;
  std::size_t dropped_ = 0;
};

/// y at x: the evaluation itself where there is one, linear between two. Nothing outside the range
/// of x (no extrapolation), so nothing at all of an empty curve. NumPy: interp, inside.
std::optional<double> value_at(const EvaluationCurve& curve, double x);

/// Which way a metric improves.
enum class MetricGoal : std::uint8_t { Minimize, Maximize };

/// When a curve reached its target; if it did not, it is censored.
struct Reached {
  bool reached = false;
  double at = kNaN;  // x; censored: the last x, up to which it did not; NaN without evaluations
};

/// The first x at which the curve is at the target or beyond (≤ for a metric that is minimised, ≥
/// otherwise): that of the first evaluation if that is, else between two evaluations. It stays
/// reached if the curve turns back.
///
/// The first passage of a noisy curve lies before that of its mean, by more the noisier it is and
/// the more often it is evaluated. Targets at least late_noise()'s residual sd inside what all arms
/// reach make this small. Source: time to result of Mattson et al., MLPerf training benchmark,
/// MLSys 2020, which takes the evaluation's x itself; here the line between two.
/// @throws Error if the target is NaN.
Reached steps_to_target(const EvaluationCurve& curve, double target, MetricGoal goal);

/// Mean of y over [x0, x1]: the trapezoid rule, interpolated at both ends, over x1 − x0. Exact for
/// the straight lines; unit of the metric. Nothing if the curve does not cover [x0, x1].
/// NumPy: trapezoid(y, x) / (x1 - x0). @throws Error unless x0 < x1.
std::optional<double> area_under(const EvaluationCurve& curve, double x0, double x1);

/// How the last evaluations scatter about their least-squares line, and whether they still move.
struct LateNoise {
  std::size_t evaluations = 0;         // k, or 0 where there are no numbers
  double slope = kNaN;                 // metric per unit of x
  double slope_per_evaluation = kNaN;  // of the line over 0, 1, …, k − 1 instead of x
  double residual_sd = kNaN;           // √(Σ r² / (k − 2)), r about the line over x
  double sd = kNaN;                    // about the mean, k − 1: holds the slope too
};

/// Of the last k evaluations that were not dropped; NaN for k < 3 or fewer evaluations than k.
/// The residual sd supposes evaluations independent of each other about the line: neighbours share
/// most of the weights' past, and where they do it is too small. It is noise within one training,
/// never to be taken for that from seed to seed.
/// Source: Draper & Smith, Applied Regression Analysis (1998), ch. 1. SciPy: linregress.
LateNoise late_noise(const EvaluationCurve& curve, std::size_t k);

/// Least-squares slope of the evaluations with x0 ≤ x ≤ x1, metric per unit of x; NaN if there are
/// fewer than two. @throws Error unless x0 < x1.
double window_slope(const EvaluationCurve& curve, double x0, double x1);

/// Times to a target of two arms, by pairs of one seed; differences are a − b, so below = a is
/// earlier.
///
/// Order of a pair: both reached: by their x, equal ones are a tie. Both censored at the same
/// budget: a tie. Censored against reached: +∞ if a, −∞ if b is the censored one, where its budget
/// is at least the other's x (otherwise it might have been the earlier one). Everything else is
/// undecided by the budgets and left out of the test of signs; with one budget for all nothing is.
///
/// Mean of the differences: exists if no pair is censored. `restricted` is the mean difference with
/// each censored value replaced by its budget. A censored value lies above its budget, so with some
/// of a's censored and none of b's this is the smallest possible mean difference (mean ≥
/// restricted), with some of b's and none of a's the largest one, and with both no bound at all: it
/// then only is the difference of restricted means, which needs one budget for all to mean
/// something. `low` and `high` say which.
/// Source: pairs of known order as in Gehan, Biometrika 52 (1965); restricted means: Royston &
/// Parmar, BMC Med. Res. Methodol. 13 (2013).
struct CensoredComparison {
  std::size_t pairs = 0;                                       // with two numbers
  std::size_t missing = 0;                                     // without: an x is not finite
  std::size_t undecided = 0;                                   // of the pairs
  std::size_t reached_a = 0, reached_b = 0, reached_both = 0;  // of the pairs
  SignTest signs;                                              // of the pairs whose order is known
  double mean = kNaN;                                          // if all of both reached
  double restricted = kNaN;                                    // needs a pair
  double low = kNaN;   // of what the mean can be: restricted if no b is censored, else −∞
  double high = kNaN;  // restricted if no a is censored, else +∞
};

/// @throws Error if the sizes differ.
CensoredComparison censored_comparison(std::span<const Reached> a, std::span<const Reached> b);

}  // namespace depthgrid
