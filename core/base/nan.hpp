#pragma once

#include <cmath>
#include <limits>

namespace depthgrid {

/// Stands for a number that was not measured or does not exist.
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// A quotient that is not defined, or a logarithm of 0, is no number.
inline double if_finite(double number) noexcept {
  return std::isfinite(number) ? number : kNaN;
}

}  // namespace depthgrid
