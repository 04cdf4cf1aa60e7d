#include "models/ops/cpu/sublayer_kernel.hpp"

#include <algorithm>

#define DEPTHGRID_KERNELS "models/ops/cpu/sublayer_kernel.inc"
#include "core/base/for_each_isa.inc"

namespace depthgrid {

void affine_rows_forward(const AffineRows& w, std::int64_t rows, const float* x, float* y,
                         Isa isa) {
  DEPTHGRID_CALL(isa, affine, w, rows, x, y);
}

void affine_rows_backward(const AffineRows& w, std::int64_t rows, const float* x, const float* dy,
                          float* dx, const AffineSums& sums, bool fresh, Isa isa) {
  DEPTHGRID_CALL(isa, affine_back, w, rows, x, dy, dx, sums, fresh);
}

void turn_weights(const float* weight, const float* gate, std::int64_t out, std::int64_t in,
                  float* turned, Isa isa) {
  DEPTHGRID_CALL(isa, turn, weight, gate, out, in, turned);
}

void gate_weights(const float* weight, const float* gate, std::int64_t out, std::int64_t in,
                  float* gated, Isa isa) {
  DEPTHGRID_CALL(isa, gate_rows, weight, gate, out, in, gated);
}

void gate_weights_backward(const float* weight, const float* gate, std::int64_t out,
                           std::int64_t in, float* gradient, float* d_gate, Isa isa) {
  DEPTHGRID_CALL(isa, gate_back, weight, gate, out, in, gradient, d_gate);
}

void add_halves(float* a, const float* b, std::int64_t count, Isa isa) {
  DEPTHGRID_CALL(isa, add_to, a, b, count);
}

std::int64_t sublayer_workspace(std::int64_t rows, std::int64_t channels, std::int64_t inner,
                                std::int64_t heads, std::int64_t tokens) {
  const std::int64_t head = heads > 0 ? attention_workspace(tokens, channels / heads) : 0;
  return 2 * rows * channels + 3 * rows * inner + head;
}

void attention_rows_forward(const SublayerWeights& w, const HeadOptions& h, const SublayerRows& at,
                            float* y, float* workspace, Isa isa) {
  DEPTHGRID_CALL(isa, attention_there, w, h, at, y, workspace);
}

void attention_rows_backward(const SublayerWeights& w, const HeadOptions& h, const SublayerRows& at,
                             const float* dy, float* dx, const SublayerSums& sums, float* workspace,
                             Isa isa) {
  DEPTHGRID_CALL(isa, attention_back, w, h, at, dy, dx, sums, workspace);
}

void feed_forward_rows_forward(const SublayerWeights& w, RowActivation act, const SublayerRows& at,
                               const float* addend, float* y, float* workspace, Isa isa) {
  DEPTHGRID_CALL(isa, feed_forward_there, w, act, at, addend, y, workspace);
}

void feed_forward_rows_backward(const SublayerWeights& w, RowActivation act, const SublayerRows& at,
                                const float* dy, float* dx, const SublayerSums& sums,
                                float* workspace, Isa isa) {
  DEPTHGRID_CALL(isa, feed_forward_back, w, act, at, dy, dx, sums, workspace);
}

void block_rows_forward(const BlockWeightsOfCell& w, const BlockRows& at, float* y,
                        float* workspace, Isa isa) {
  DEPTHGRID_CALL(isa, block_there, w, at, y, workspace);
}

void block_rows_backward(const BlockWeightsOfCell& w, const BlockRows& at, const float* dy,
                         float* dx, const SublayerSums& attention, const SublayerSums& feed_forward,
                         float* workspace, Isa isa) {
  DEPTHGRID_CALL(isa, block_back, w, at, dy, dx, attention, feed_forward, workspace);
}

}  // namespace depthgrid
