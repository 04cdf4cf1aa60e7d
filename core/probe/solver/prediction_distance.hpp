#pragma once

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

#include "core/probe/continuous_depth.hpp"

namespace depthgrid {

/// How the predictions of one state at τ = 1 differ from those of another, mean over tokens, nats.
struct PredictionDistance {
  std::vector<double> divergence;   // (E) KL(p* ‖ p) of the next-token distributions
  std::vector<double> loss_change;  // (E) loss of x less that of the reference
};

/// @param x, reference  (E, B, T, C) at τ = 1. @param targets  (B, T) int64.
PredictionDistance prediction_distance(const ContinuousDepth& depth, const at::Tensor& x,
                                       const at::Tensor& reference, const at::Tensor& targets);

}  // namespace depthgrid
