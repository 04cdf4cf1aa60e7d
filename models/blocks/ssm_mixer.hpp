#pragma once

#include <vector>

#include <ATen/core/Tensor.h>

#include "models/blocks/ssm_weights.hpp"

namespace depthgrid {

/// The discrete system at one depth: h_τ = Ā h_{τ−1} + B̄ x_τ, y_τ = C h_τ + D x_τ along the tokens
/// τ. It is the same for all tokens: linear and time-invariant.
struct SsmSystem {
  at::Tensor transition;     // Ā: (E, N) diagonal or (E, N, N)
  AffineMap input;           // B̄: C -> N
  AffineMap output;          // C: N -> C
  AffineMap skip;            // D: C -> C, or undefined
  at::Tensor diagonal_skip;  // D: (E, C), or undefined
};

/// Discrete systems at the L nodes.
///
/// zoh:   Ā = exp(ΔA), B̄ = φ₁(ΔA) Δ B: exact for an input that is constant over a token.
/// euler: Ā = exp(ΔA), B̄ = Δ B: the input's integral by Euler's rule (the published program; Gu &
///        Dao (2023), arXiv 2312.00752, section 2).
/// none:  Ā = A, B̄ = B: the recurrence as first printed in the study.
/// Δ (per state) multiplies the rows of A and B.
std::vector<SsmSystem> discretise(Discretisation rule, const SsmAtNodes& nodes);

/// @param x      (E, B, T, C) float32 or float64.
/// @param state  (E, B, N) h before the first token (undefined: zeros), on return after the last;
///               null: starts at zero, final state not returned.
/// @param every  on return h after each token, (E, B, T, N); null: not returned.
/// @return       (E, B, T, C), in the dtype of x.
/// Source: first study, section 2.4.1.
at::Tensor mix(const SsmSystem& system, const at::Tensor& x, at::Tensor* state = nullptr,
               at::Tensor* every = nullptr);

}  // namespace depthgrid
