#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>

#include "models/ops/sublayer.hpp"

namespace depthgrid {

/// Both sublayers of a block and how they meet.
struct WholeBlock {
  SublayerTensors attention, feed_forward;
  std::int64_t heads = 1;
  RowActivation act = RowActivation::GeluErf;
  RotaryTables rotary;
  at::Tensor h;  // (E) step lengths of sequential sublayers, CPU; undefined for parallel ones
};

/// F = Attn(N1 x) + FFN(N2 x), or FFN(N2(x + h Attn(N1 x))) where h is defined, as one node of the
/// graph on the CPU: a sequence goes through the whole block while it lies in the caches. The same
/// numbers as `attention_sublayer` and `feed_forward_sublayer` one after the other, to rounding.
/// @param x  (E, B, T, C) float. @return (E, B, T, C)
at::Tensor whole_block(const at::Tensor& x, const WholeBlock& block);

/// Whether the kernels serve such a call, and serve it at least as fast as two sublayers.
bool whole_block_serves(const at::Tensor& x, const WholeBlock& block);

}  // namespace depthgrid
