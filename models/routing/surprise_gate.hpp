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

/// What the teacher says of every token; all (E, B, T).
struct GateSignals {
  at::Tensor d_st;  // static surprise |Δx|² / C
  at::Tensor d_ch;  // change surprise |Δx - Δx̂|² / C
  at::Tensor ma;    // moving average of d_st, without a graph
  at::Tensor ce;    // criterion of an expected event: d_st - (d_ch - log(o_ce + 1e-10)), where
                    // surprise is over its level if it has one
  at::Tensor cu;    // of an unexpected event: d_st - m_cu ma, likewise
  at::Tensor s_ce;  // σ(softplus(beta_ce) ce)
  at::Tensor s_cu;
  at::Tensor gate;   // s_ce + s_cu - s_ce s_cu, in [0, 1]
  at::Tensor score;  // -log(1 - gate) as a sum of softplus, float64, without a graph: what TopK
                     // ranks
};

/// Mean square over channels. x (E, B, T, C) -> (E, B, T)
at::Tensor mean_square(const at::Tensor& x);

/// Mean of the last `window` values up to the token itself, of what there is at the start of the
/// sequence; added up in float64. Exclusive: of the values before the token (the first one: its
/// own).
/// @param d  (E, B, T), taken without its graph. @return the same shape and dtype
at::Tensor moving_average(const at::Tensor& d, std::int64_t window, bool exclusive = false);

/// How a gate looks at surprise.
struct SurpriseOptions {
  std::int64_t window = 100;  // W
  bool exclusive = false;     // see moving_average()
  at::Tensor level = {};      // (E, 1), without a graph: D over it makes the criteria; or undefined
};

/// Surprise, criteria and gate of a residual and its prediction.
/// @param residual, predicted  (E, B, T, C) Δx and Δx̂, attached as far as the gate's gradient may
///                             go.
/// Source: third study, sections 3.3.1 to 3.3.3.
GateSignals surprise_gate(const at::Tensor& residual, const at::Tensor& predicted,
                          const GateScalars& scalars, const SurpriseOptions& options);

}  // namespace depthgrid
