#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/nan.hpp"
#include "sweeps/compare/contrast.hpp"

namespace depthgrid {

// Several contrasts at once: one family is what one question examines (all main contrasts of the
// primary metric). A contrast without a p (NaN: one pair, no spread) is no member of the family.

/// α of the verdicts; the intervals beside them have confidence 1 − α.
inline constexpr double kVerdictLevel = 0.05;

/// Holm's step-down p: with p_(1) ≤ … ≤ p_(m), max over j ≤ i of min(1, (m − j + 1) p_(j)), in the
/// order of the argument; NaN stays NaN and does not count in m.
///
/// Rejecting where it is < α keeps the probability of any false rejection in the family ≤ α,
/// whatever the dependence. @throws Error for a number outside [0, 1].
/// Source: Holm, Scand. J. Stat. 6 (1979). statsmodels: multipletests(method="holm").
std::vector<double> holm_adjusted(std::span<const double> p);

/// How many have a p.
std::size_t family_size(std::span<const double> p);

/// 1 − (1 − confidence) / m: intervals at this confidence hold all m at once (Bonferroni).
/// m = 0 counts as 1. Wider than Holm's tests, so one may hold 0 where Holm rejects.
double simultaneous_confidence(std::size_t m, double confidence = kConfidence);

/// t intervals that hold for the whole family at once, in the order of the contrasts.
std::vector<ConfidenceLimits> simultaneous_intervals(std::span<const PairedContrast> contrasts,
                                                     double confidence = kConfidence);

/// What a contrast may be said to show.
enum class ContrastVerdict : std::uint8_t {
  NoEffect,  ///< the mean lies within the margin (p of equivalence < α), even if it is not 0
  Differs,   ///< Holm's p < α
  Undecided  ///< neither: the effect that could have been detected says how little that is
};

/// The verdicts in this order: equivalence goes first, so that a difference too small to matter is
/// not reported as one that does. A p that is NaN decides nothing; without a margin there is no p
/// of equivalence. Equivalence is tested for each contrast by itself, difference within the family.
ContrastVerdict contrast_verdict(double holm_p, double equivalence_p = kNaN,
                                 double alpha = kVerdictLevel);

/// "no effect beyond δ", "differs" or "undecided".
std::string_view contrast_verdict_text(ContrastVerdict verdict);

}  // namespace depthgrid
