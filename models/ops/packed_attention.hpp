#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>

namespace depthgrid {

/// Cosines and sines of rotary positions, (E, T, D/2) float each, or (E, B, T, D/2) if each
/// sequence has its own; contiguous; undefined for no rotation.
struct RotaryTables {
  at::Tensor cosine, sine;
};

/// Causal softmax attention over packed q, k and v, as one graph node on the CPU: heads are not
/// copied out, and the gradient is one packed tensor. Heads are bitwise independent of each other.
/// @param qkv    (E, B, T, 3C) float, CPU, contiguous or not.
/// @param heads  H; scores are scaled by 1/sqrt(C/H).
/// @return       (E, B, T, C)
at::Tensor packed_attention(const at::Tensor& qkv, std::int64_t heads, const RotaryTables& rotary);

/// Whether the kernel supports such a call and is at least as fast as ATen's.
bool packed_attention_serves(const at::Tensor& qkv, std::int64_t heads);

}  // namespace depthgrid
