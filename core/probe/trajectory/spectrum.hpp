#pragma once

#include <limits>

#include <ATen/core/Tensor.h>

namespace depthgrid {

/// How many directions a cloud of tokens fills: numbers between 1 and the rank of the matrix of
/// tokens, less their mean, with the singular values s_i.
struct Spectrum {
  /// exp(-sum p_i ln p_i), p_i = s_i / sum s. Roy and Vetterli 2007, "The effective rank".
  double effective_rank = std::numeric_limits<double>::quiet_NaN();

  /// (sum s_i^2)^2 / sum s_i^4.
  double participation_ratio = std::numeric_limits<double>::quiet_NaN();
};

/// @param scatter  (k, k) double, symmetric, on any device: its eigenvalues are the s_i^2, apart
///                 from zeros. Those below k times the rounding of a double of the largest count as
///                 0.
/// @return NaN for a matrix of zeros or with non-finite entries.
Spectrum spectrum_of(const at::Tensor& scatter);

}  // namespace depthgrid
