#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace depthgrid {

/// Which points of a curve to draw so that its line looks as if all were: of every column of
/// pixels the first, the last, the lowest and the highest. No extreme of the curve is lost.
///
/// The columns are equal parts of the drawn width, most / 4 of them.
/// @param x     (n) pixels, not decreasing. @param y  (n) finite, any unit.
/// @param most  ≥ 4: points to draw. @return  indices, ascending, at most `most`; all if n ≤ most.
/// @throws Error if the sizes differ, x decreases or `most` is below 4.
/// Source: Jugel et al., M4: a visualization-oriented time series data aggregation, PVLDB 7 (2014).
std::vector<std::size_t> m4_points(std::span<const double> x, std::span<const double> y,
                                   std::size_t most);

}  // namespace depthgrid
