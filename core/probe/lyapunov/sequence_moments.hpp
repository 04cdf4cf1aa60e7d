#pragma once

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

namespace depthgrid {

/// Statistics over the sequences of a cell, of each of n numbers. NaN counts as absent.
struct SequenceMoments {
  std::vector<double> mean, spread, most;  // spread: with n - 1, NaN of fewer than two sequences
  std::vector<std::int64_t> count;

  /// @param values  (B) or (B, n) double, host. Added in order.
  explicit SequenceMoments(const at::Tensor& values);
};

}  // namespace depthgrid
