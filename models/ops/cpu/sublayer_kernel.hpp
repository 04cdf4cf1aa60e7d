#pragma once

#include <cstdint>

#include "core/base/isa.hpp"
#include "models/ops/cpu/attention_kernel.hpp"
#include "models/ops/cpu/gelu_kernel.hpp"

namespace depthgrid {

/// The norm at the start of one cell's sublayer.
struct NormRow {
  enum class Form : std::uint8_t { None, Rms, Layer } form;
  const float* scale;  // (C), or null for 1
  const float* shift;  // (C), or null for 0
  float eps;
};

/// One affine map of one cell: y = x weight^T + bias.
struct AffineRows {
  const float* weight;  // (out, in), read by the backward pass
  const float* turned;  // (in, out), its transpose, read by the forward pass
  const float* bias;    // (out), zeros if the map has none
  std::int64_t in, out;
};

/// Accumulators for the gradients of one affine map.
struct AffineSums {
  float* weight;  // (out, in)
  float* bias;    // (out)
};

/// Accumulators for the gradients of a norm's weights; (C) each.
struct NormSums {
  float* scale;
  float* shift;
};

enum class RowActivation : std::uint8_t { GeluErf, GeluTanh, Relu, Silu };

/// One cell's sublayer. Channels and hidden width are multiples of 16.
struct SublayerWeights {
  NormRow norm;
  AffineRows first;   // C -> 3C, or C -> hidden
  AffineRows second;  // C -> C, or hidden -> C
};

struct SublayerSums {
  NormSums norm;
  AffineSums first, second;
  bool fresh;  // the first run of a task: overwrite instead of adding
};

/// What one sequence (or any run of rows) saves for the backward pass, as rows of whole tensors.
struct SublayerRows {
  std::int64_t rows;
  const float* x;     // (rows, C)
  float* inner;       // (rows, 3C) q, k and v; or (rows, hidden) before the activation
  float* mixed;       // (rows, C) of attention
  float* normaliser;  // (sequences, H, T, 2) of attention
  float* mean;        // (rows)
  float* inverse;     // (rows) 1 / deviation
};

/// y (rows, out) = x weight^T + bias.
void affine_rows_forward(const AffineRows& w, std::int64_t rows, const float* x, float* y,
                         Isa isa = isa_in_use());

/// dx (rows, in) = dy weight; the gradients of weight and bias are added to `sums`, or overwrite
/// them if `fresh`.
void affine_rows_backward(const AffineRows& w, std::int64_t rows, const float* x, const float* dy,
                          float* dx, const AffineSums& sums, bool fresh, Isa isa = isa_in_use());

/// turned (in, out) = the transpose of gate_o weight (out, in); gate null for 1.
void turn_weights(const float* weight, const float* gate, std::int64_t out, std::int64_t in,
                  float* turned, Isa isa = isa_in_use());

/// gated (out, in) = gate_o weight.
void gate_weights(const float* weight, const float* gate, std::int64_t out, std::int64_t in,
                  float* gated, Isa isa = isa_in_use());

/// Backward of `gate_weights`: `gradient` of the gated weight becomes that of the weight; d_gate
/// (out) is written.
void gate_weights_backward(const float* weight, const float* gate, std::int64_t out,
                           std::int64_t in, float* gradient, float* d_gate, Isa isa = isa_in_use());

/// a = a + b.
void add_halves(float* a, const float* b, std::int64_t count, Isa isa = isa_in_use());

struct HeadOptions {
  std::int64_t heads;
  std::int64_t tokens;  // T; a run holds whole sequences
  const float* cosine;  // (T, D/2) rotary positions, or null
  const float* sine;
  bool own;  // angles are (rows of the run, D/2): each sequence has its own
};

/// Workspace for `rows` rows, in floats; a block needs that of its wider sublayer plus 2·rows·C.
/// @param heads  0 for feed-forward. @param tokens  of one sequence
std::int64_t sublayer_workspace(std::int64_t rows, std::int64_t channels, std::int64_t inner,
                                std::int64_t heads, std::int64_t tokens);

/// y = W_o attention(W_qkv N(x)) for whole sequences, in cache: only x, the result and what the
/// backward pass needs touch memory.
void attention_rows_forward(const SublayerWeights& w, const HeadOptions& h, const SublayerRows& at,
                            float* y, float* workspace, Isa isa = isa_in_use());

/// Writes dx; gradients of weights are added to `sums`, or overwrite them if `fresh`.
void attention_rows_backward(const SublayerWeights& w, const HeadOptions& h, const SublayerRows& at,
                             const float* dy, float* dx, const SublayerSums& sums, float* workspace,
                             Isa isa = isa_in_use());

/// y = addend + W_down act(W_up N(x)). @param addend  (rows, C), or null
void feed_forward_rows_forward(const SublayerWeights& w, RowActivation act, const SublayerRows& at,
                               const float* addend, float* y, float* workspace,
                               Isa isa = isa_in_use());

void feed_forward_rows_backward(const SublayerWeights& w, RowActivation act, const SublayerRows& at,
                                const float* dy, float* dx, const SublayerSums& sums,
                                float* workspace, Isa isa = isa_in_use());

/// Both sublayers of one cell's block.
struct BlockWeightsOfCell {
  SublayerWeights attention, feed_forward;
  HeadOptions heads;
  RowActivation act;
  float h;  // step length, if the second sublayer reads x + h Attn(N1 x)
};

struct BlockRows {
  SublayerRows attention;
  SublayerRows feed_forward;  // its x is `middle`, if any
  float* middle;              // (rows, C) x + h Attn(N1 x), saved; null for parallel sublayers
};

/// y = Attn(N1 x) + FFN(N2 x), or FFN of x + h Attn(N1 x) for sequential sublayers.
void block_rows_forward(const BlockWeightsOfCell& w, const BlockRows& at, float* y,
                        float* workspace, Isa isa = isa_in_use());

void block_rows_backward(const BlockWeightsOfCell& w, const BlockRows& at, const float* dy,
                         float* dx, const SublayerSums& attention, const SublayerSums& feed_forward,
                         float* workspace, Isa isa = isa_in_use());

}  // namespace depthgrid
