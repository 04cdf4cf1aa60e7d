#pragma once

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

namespace depthgrid {

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
