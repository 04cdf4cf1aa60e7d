#pragma once

#include <cstdint>

#include "core/base/isa.hpp"

namespace depthgrid {

/// One head of one sequence: the rows of T tokens within a wider matrix.
template <class T>
struct HeadRows {
  T* data;
  std::int64_t stride;  // between tokens, in elements
};

/// Inputs of one head of causal softmax attention, in float.
struct AttentionHead {
  HeadRows<const float> q, k, v;  // (T, D)
  std::int64_t tokens;            // T
  std::int64_t channels;          // D
  float scale;                    // of q k^T
  const float* cosine;            // (T, D/2) rotary positions (Su et al. 2021), or null
  const float* sine;
};

/// Workspace for one head, in floats.
std::int64_t attention_workspace(std::int64_t tokens, std::int64_t channels);

/// out_i = sum_{j <= i} p_ij v_j with p_i = softmax_j(scale q_i k_j); q and k are rotated first if
/// there are rotary positions.
///
/// For windows of tens to hundreds of tokens, where all scores of a head fit in the second-level
/// cache: tiles of eight queries and sixteen keys; only q, k, v and the result touch memory.
/// @param normaliser  (T, 2) largest score of each query and 1 / sum of exponentials, for the
///                    backward pass.
void attention_forward(const AttentionHead& head, HeadRows<float> out, float* normaliser,
                       float* workspace, Isa isa = isa_in_use());

/// Gradients of q, k and v (T, D); every element is written.
/// @param out, d_out  result of the forward pass and its gradient.
void attention_backward(const AttentionHead& head, HeadRows<const float> out,
                        HeadRows<const float> d_out, const float* normaliser, HeadRows<float> dq,
                        HeadRows<float> dk, HeadRows<float> dv, float* workspace,
                        Isa isa = isa_in_use());

}  // namespace depthgrid
