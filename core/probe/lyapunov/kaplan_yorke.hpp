#pragma once

#include <cstdint>
#include <vector>

namespace depthgrid {

/// Kaplan-Yorke dimension j + S_j / |λ_{j+1}|: S_j is the sum of the j largest exponents, j the
/// largest number with S_j >= 0.
///
/// 0 if λ_1 < 0; `dimension` if no sum of all its exponents is negative; NaN if it is undetermined:
/// fewer exponents than `dimension` and no negative sum, or an exponent that is NaN or plus
/// infinity.
/// @param exponents  the largest ones, in any order. @param dimension  N, of the state.
/// Source: Kaplan & Yorke (1979), Lecture Notes in Mathematics 730, 204.
double kaplan_yorke(std::vector<double> exponents, std::int64_t dimension);

}  // namespace depthgrid
