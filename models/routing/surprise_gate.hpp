#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>

namespace depthgrid {

/// The four scalars of a layer's gate, each (E, 1).
struct GateScalars {
  at::Tensor o_ce;     // effective, positive
  at::Tensor m_cu;     // effective
  at::Tensor beta_ce;  // before softplus
  at::Tensor beta_cu;
};

/// The teacher's signals for every token; all (E, B, T).
struct GateSignals {
  at::Tensor d_st;  // static surprise |Δx|² / C
  at::Tensor d_ch;  // change surprise |Δx - Δx̂|² / C
  at::Tensor ma;    // moving average of d_st, without a graph
  at::Tensor ce;    // criterion of an expected event: d_st - (d_ch - log(o_ce + 1e-10)), with
                    // surprise divided by its level, if any
  at::Tensor cu;    // of an unexpected event: d_st - m_cu ma, likewise
  at::Tensor s_ce;  // σ(softplus(beta_ce) ce)
  at::Tensor s_cu;
  at::Tensor gate;   // s_ce + s_cu - s_ce s_cu, in [0, 1]
  at::Tensor score;  // -log(1 - gate) as a sum of softplus, float64, detached: ranked by TopK
};

/// Mean square over channels. x (E, B, T, C) -> (E, B, T)
at::Tensor mean_square(const at::Tensor& x);

/// Mean of the last `window` values up to the token itself (fewer at the start of the sequence),
/// summed in float64. Exclusive: only values before the token (for the first one: its own).
/// @param d  (E, B, T), detached here. @return the same shape and dtype
at::Tensor moving_average(const at::Tensor& d, std::int64_t window, bool exclusive = false);

/// Options of surprise_gate().
struct SurpriseOptions {
  std::int64_t window = 100;  // W
  bool exclusive = false;     // see moving_average()
  at::Tensor level = {};      // (E, 1), detached: criteria use D / level; or undefined for 1
};

/// Surprise, criteria and gate of a residual and its prediction.
/// @param residual, predicted  (E, B, T, C) Δx and Δx̂, detached where the gate's gradient must
///                             stop.
/// Source: third study, sections 3.3.1 to 3.3.3.
GateSignals surprise_gate(const at::Tensor& residual, const at::Tensor& predicted,
                          const GateScalars& scalars, const SurpriseOptions& options);

}  // namespace depthgrid
