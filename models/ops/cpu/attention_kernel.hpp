#pragma once

#include <cstdint>

namespace depthgrid {

/// One head of one sequence: rows of T tokens in a wider matrix.
template <class T>
struct HeadRows {
  T* data;
  std::int64_t stride;  // between tokens
};

/// What a head of causal softmax attention is computed from, in float.
struct AttentionHead {
  HeadRows<const float> q, k, v;  // (T, D)
  std::int64_t tokens;            // T
  std::int64_t channels;          // D
  float scale;                    // of q k^T
  const float* cosine;            // (T, D/2) rotary positions (Su et al. 2021), or null
  const float* sine;
};

/// Floats that one head needs aside.
std::int64_t attention_workspace(std::int64_t tokens, std::int64_t channels);

/// out_i = sum_{j <= i} p_ij v_j with p_i = softmax_j(scale q_i k_j); q and k are rotated first
/// where there is a table of angles.
///
/// Written for windows of tens to hundreds of tokens, where the whole square of a head lies in the
/// second-level cache: rows of eight queries meet sixteen keys at a time, nothing is read from or
/// written to memory but q, k, v and the result.
/// @param normaliser  (T, 2) largest score of a query and 1 over the sum of exponentials, for the
///                    way back.
void attention_forward(const AttentionHead& head, HeadRows<float> out, float* normaliser,
                       float* workspace);

/// Gradients of q, k and v (T, D); every element is written.
/// @param out, d_out  result of the way there and its gradient.
void attention_backward(const AttentionHead& head, HeadRows<const float> out,
                        HeadRows<const float> d_out, const float* normaliser, HeadRows<float> dq,
                        HeadRows<float> dk, HeadRows<float> dv, float* workspace);

}  // namespace depthgrid
