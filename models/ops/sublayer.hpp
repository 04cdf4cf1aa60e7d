#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>

#include "models/ops/cpu/sublayer_kernel.hpp"
#include "models/ops/packed_attention.hpp"

namespace depthgrid {

/// One affine map of E cells with a gate per row: y = x (gate_o W)^T + b.
struct SublayerMap {
  at::Tensor weight;  // (E, out, in)
  at::Tensor gate;    // (E, out, 1), or undefined for 1
  at::Tensor bias;    // (E, 1, out), or undefined for 0
};

/// A norm and two affine maps of E cells: the parts of either sublayer of a block.
struct SublayerTensors {
  NormRow::Form form = NormRow::Form::Layer;
  at::Tensor scale, shift;  // (E, C), or undefined for 1 and 0
  at::Tensor eps;           // (E) double, CPU
  SublayerMap first;        // C -> 3C or hidden
  SublayerMap second;       // C or hidden -> C
};

/// W_o attention(W_qkv N(x)), causal, as one graph node on the CPU.
///
/// Each sequence passes through norm, projection, heads and projection while it is in cache
/// (sublayer_kernel.hpp); only what the backward pass needs is saved: q, k, v, the heads' result
/// and the norm's statistics. Gradients of weights are summed over the sequences of each half of
/// the batch, then over the halves: the same bits for every number of threads and cells.
/// @param x  (E, B, T, C) float, CPU. @return (E, B, T, C)
at::Tensor attention_sublayer(const at::Tensor& x, const SublayerTensors& w, std::int64_t heads,
                              const RotaryTables& rotary);

/// addend + W_down act(W_up N(x)), likewise, in runs of rows. @param addend  like x, or undefined
at::Tensor feed_forward_sublayer(const at::Tensor& x, const SublayerTensors& w, RowActivation act,
                                 const at::Tensor& addend);

/// Channels up to which these kernels are faster than LibTorch's products: 256, of the widths 128,
/// 256, 384 and 512 that were compared on a processor for which MKL has no AVX-512 kernels; 128
/// where it has them, on Intel's (docs/performance.md, "Instruction sets").
std::int64_t widest_sublayer();

/// Whether the kernels support such a call and are at least as fast as the composed sublayer.
/// @param heads  0 for feed-forward.
bool sublayer_serves(const at::Tensor& x, const SublayerTensors& w, std::int64_t heads);

}  // namespace depthgrid
