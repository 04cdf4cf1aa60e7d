#pragma once

#include <limits>
#include <vector>

namespace depthgrid {

/// How a number is distributed over tokens. NaN: there are none.
struct TokenDistribution {
  double mean = std::numeric_limits<double>::quiet_NaN();
  double std = mean;  // root of the mean squared deviation (divided by n)
  double p05 = mean, p50 = mean, p95 = mean;
  double max = mean;
};

/// Exact: quantiles interpolate linearly between the order statistics, as NumPy's default does
/// (Hyndman and Fan 1996, type 7).
TokenDistribution distribution_of(std::vector<double> sample);

}  // namespace depthgrid
