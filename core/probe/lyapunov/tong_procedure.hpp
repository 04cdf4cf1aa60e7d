#pragma once

#include <ATen/core/Tensor.h>

#include "core/probe/lyapunov/tangent_map.hpp"

namespace depthgrid {

/// The "token sensitivity" of a published analysis, for replication only: its numbers are exponents
/// of no map of the network, except that of the last token on itself.
///
/// With the block J_k = ∂y_last/∂x_k of each step, q_k = I becomes (I + J_k) q_k, for the last
/// token J_k q_k (whose block holds the identity already); q_k = Q R, ln|R_ii| are added up, Q goes
/// on. The chain rule would sum over all tokens between, and other tokens have no identity. Here
/// states and depth-times are those of the model; the published program takes the state of the next
/// step and the time of the one before. Source: Tong et al. (2025), "Neural ODE Transformers",
/// qkvflow/analysis/lyapunov.py.
class TongProcedure {
 public:
  /// The next step along depth. @param step  at states (E, B, T, C).
  void advance(const TangentMap& step);

  /// The largest of the sums of ln|R_ii|, not divided by time: (E, B, T) double.
  at::Tensor largest() const;

 private:
  at::Tensor frames_;  // (E, B, T, C, C) double, host
  at::Tensor sums_;    // (E, B, T, C)
};

}  // namespace depthgrid
