#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include <ATen/core/Tensor.h>

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

/// Means of numbers per token over the tokens of each class. A token for which a number is
/// undefined (NaN) does not count in its mean.
class ClassMeans {
 public:
  ClassMeans(std::int64_t rows, std::int64_t classes);

  /// Adds in the order of the tokens, so that the means do not depend on how tokens are grouped.
  /// @param values  (rows, T) double, host
  /// @param member  (classes, T) bool, host
  void add(const at::Tensor& values, const at::Tensor& member);

  /// NaN if the number is undefined for all tokens of the class.
  double mean(std::int64_t row, std::int64_t token_class) const;

 private:
  std::int64_t rows_, classes_;
  std::vector<double> sum_, count_;  // (rows, classes)
};

}  // namespace depthgrid
