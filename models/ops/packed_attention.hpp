#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>

namespace depthgrid {

/// Angles of rotary positions as tables, (E, T, D/2) float each, or (E, B, T, D/2) where each
/// sequence has its own; contiguous, undefined for none.
struct RotaryTables {
  at::Tensor cosine, sine;
};

/// Causal softmax attention of q, k and v that lie beside each other, as one node of the graph on
/// the CPU: no head is ever copied out, and the gradient comes back as one tensor. Heads are
/// independent of each other to the bit.
/// @param qkv    (E, B, T, 3C) float, CPU, contiguous or not.
/// @param heads  H; scores are scaled by 1/sqrt(C/H).
/// @return       (E, B, T, C)
at::Tensor packed_attention(const at::Tensor& qkv, std::int64_t heads, const RotaryTables& rotary);

/// Whether the kernel serves such a call, and serves it at least as fast as ATen's.
bool packed_attention_serves(const at::Tensor& qkv, std::int64_t heads);

}  // namespace depthgrid
