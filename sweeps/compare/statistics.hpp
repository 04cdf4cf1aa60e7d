#pragma once

#include <cstddef>
#include <span>

#include "core/base/nan.hpp"

namespace depthgrid {

/// Confidence of all intervals here.
inline constexpr double kConfidence = 0.95;

/// Size, mean and spread of a sample.
struct SampleSummary {
  std::size_t n = 0;
  double mean = kNaN;  // n ≥ 1
  double sd = kNaN;    // n ≥ 2; of the population, so with n − 1 in the denominator
};

SampleSummary summary_of(std::span<const double> sample);

/// How the difference of two means got its standard error.
enum class DifferenceKind {
  Paired,  ///< from the differences of pairs: what a pair has in common cancels
  Welch    ///< from two independent samples whose variances may differ
};

/// A difference of two means, with an interval where the spread can be estimated; else NaN.
struct MeanDifference {
  DifferenceKind kind = DifferenceKind::Paired;
  std::size_t n = 0;  // pairs; Welch: size of the smaller sample
  double value = kNaN;
  double degrees = kNaN;  // of freedom of Student's distribution
  double low = kNaN, high = kNaN;
};

/// Mean of a[i] − b[i]; the interval needs two pairs. @throws Error if the sizes differ.
MeanDifference paired_difference(std::span<const double> a, std::span<const double> b);

/// Mean of a − mean of b; the interval needs two values in each.
/// Source: Welch, The generalization of "Student's" problem, Biometrika 34 (1947); degrees of
/// freedom after Satterthwaite (1946).
MeanDifference welch_difference(std::span<const double> a, std::span<const double> b);

}  // namespace depthgrid
