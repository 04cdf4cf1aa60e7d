#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>

#include "models/ops/sublayer.hpp"

namespace depthgrid {

/// Both sublayers of a block and how they are combined.
struct WholeBlock {
  SublayerTensors attention, feed_forward;
  std::int64_t heads = 1;
  RowActivation act = RowActivation::GeluErf;
  RotaryTables rotary;
  at::Tensor h;  // (E) step lengths of sequential sublayers, CPU; undefined for parallel ones
};

/// F = Attn(N1 x) + FFN(N2 x), or Attn(N1 x) + FFN(N2(x + h Attn(N1 x))) if h is defined, as one
/// graph node on the CPU: a sequence goes through the whole block while in cache. Equal to
/// `attention_sublayer` followed by `feed_forward_sublayer`, up to rounding.
/// @param x  (E, B, T, C) float. @return (E, B, T, C)
at::Tensor whole_block(const at::Tensor& x, const WholeBlock& block);

/// Whether the kernels support such a call and are at least as fast as two sublayers.
bool whole_block_serves(const at::Tensor& x, const WholeBlock& block);

}  // namespace depthgrid
