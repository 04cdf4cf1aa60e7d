#pragma once

#include <ATen/core/Tensor.h>

#include "models/options/model_options.hpp"

namespace depthgrid {

/// Input of a network of depth-time at each node: sines, cosines and, if configured, t itself.
///
/// fourier:   sin(2 pi k t), cos(2 pi k t), k = 1..K (first study, section 3.1).
/// geometric: sin(s t w_k), cos(s t w_k), w_k = base^(-k/K), k = 0..K-1 (its published program).
/// @param t  (E, L) depth-time.
/// @return   (E, L, 2K + include_t): sines, cosines, t. Computed in float64; float32 unless t is
///           float64.
at::Tensor time_features(const TimeOptions& o, const at::Tensor& t);

/// Rank of the features over the L nodes of cell `e`: how many independent values a network of
/// depth-time can take there (at most L; below 2K + 1 by aliasing).
std::int64_t time_feature_rank(const TimeOptions& o, const at::Tensor& t, std::int64_t e);

}  // namespace depthgrid
