#pragma once

#include <limits>

namespace depthgrid {

/// "No value" in columns and reports.
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

}  // namespace depthgrid
