#include "core/probe/lyapunov/tong_procedure.hpp"

#include <tuple>

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/linalg_qr.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/zeros.h>

namespace depthgrid {
namespace {

/// Blocks ∂y_last/∂x_k of one step, (E, B, T, C, C) double: one product with Dᵀ per output channel.
at::Tensor blocks_of(const TangentMap& step) {
  const at::IntArrayRef n = step.sizes();
  const std::int64_t width = n[3];
  const at::Tensor out = at::empty({n[0], n[1], n[2], width, width}, at::kDouble);
  for (std::int64_t c = 0; c < width; ++c) {
    const at::Tensor w = at::zeros(n, at::kDouble);
    w.select(2, n[2] - 1).select(2, c).fill_(1);
    out.select(3, c).copy_(step.transposed(w));
  }
  return out;
}

}  // namespace

void TongProcedure::advance(const TangentMap& step) {
  const at::IntArrayRef n = step.sizes();
  const at::Tensor identity = at::eye(n[3], at::kDouble);
  const at::Tensor blocks = blocks_of(step);
  if (!frames_.defined()) {
    frames_ = identity.expand(blocks.sizes()).contiguous();
    sums_ = at::zeros({n[0], n[1], n[2], n[3]}, at::kDouble);
  }
  // One matrix at a time: a cell's bits must not depend on how many there are.
  for (std::int64_t e = 0; e < n[0]; ++e) {
    for (std::int64_t b = 0; b < n[1]; ++b) {
      for (std::int64_t t = 0; t < n[2]; ++t) {
        const at::Tensor block = blocks[e][b][t];
        const at::Tensor step_map = t + 1 == n[2] ? block : block + identity;
        const auto [q, r] = at::linalg_qr(at::mm(step_map, frames_[e][b][t]));
        frames_[e][b][t].copy_(q);
        sums_[e][b][t].add_(r.diagonal().abs().log());
      }
    }
  }
}

at::Tensor TongProcedure::largest() const {
  return std::get<0>(sums_.max(3));
}

}  // namespace depthgrid
