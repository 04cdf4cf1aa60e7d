#pragma once

#include <limits>

namespace depthgrid {

/// Stands for a number that was not measured or does not exist.
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

}  // namespace depthgrid
