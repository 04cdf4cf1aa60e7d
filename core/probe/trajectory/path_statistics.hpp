#pragma once

#include <ATen/core/Tensor.h>

namespace depthgrid {

/// The paths of tokens through depth. State H_l of a token, l = 0 ... L, is at depth-time tau_l;
/// the step D_l = H_l - H_{l-1} takes h_l = tau_l - tau_{l-1}; its velocity is v_l = D_l / h_l.
/// Norms are Euclidean over the C channels; RMS is the norm over sqrt(C). Dimensionless, as tau is.
///
/// (L + 1, T) by state, (L, T) by step (row l - 1 is step l), or (T) by path; double. NaN where a
/// quantity is undefined: at the first step for those that need the one before, and for tokens for
/// which its denominator is 0 (a token that skips a layer has no direction there).
struct PathStatistics {
  // By state.
  at::Tensor norm;          // RMS of H_l
  at::Tensor displacement;  // |H_l - H_0| / |H_0|; 0 at the first state
  at::Tensor cosine_final;  // cos(H_l, H_L); 1 at the last state

  // By step.
  at::Tensor velocity;           // RMS of v_l
  at::Tensor relative_velocity;  // |v_l| / |H_{l-1}|
  at::Tensor cosine_state;       // cos(H_{l-1}, H_l)
  at::Tensor cosine_step;        // cos(D_{l-1}, D_l)

  // By step from the second on: derivatives at H_{l-1} of the parabola in depth-time through
  // H_{l-2}, H_{l-1} and H_l. Second-order accurate where h_l = h_{l-1}.
  at::Tensor acceleration;  // RMS of a_l = (v_l - v_{l-1}) / ((h_l + h_{l-1}) / 2)
  at::Tensor curvature;  // |a_l - (a_l . u) u| / |w|^2, u = w / |w|, with the parabola's velocity
                         // w = (h_{l-1} v_l + h_l v_{l-1}) / (h_l + h_{l-1}); per unit of state

  // By path.
  at::Tensor path_length;   // sum of |D_l| / sqrt(C): the integral of the velocity
  at::Tensor tortuosity;    // sum of |D_l| over |H_L - H_0|; >= 1
  at::Tensor straightness;  // |H_L - H_0| over the sum of |D_l|; 0 for a path that returns
};

/// @param x      (L + 1, T, C) double, the states of one cell, on any device; L >= 1
/// @param times  (L + 1) double, on the same device. A step of no duration has no velocity (NaN).
PathStatistics path_statistics(const at::Tensor& x, const at::Tensor& times);

}  // namespace depthgrid
