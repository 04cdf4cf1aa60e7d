#include "models/routing/masked_block.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include <ATen/TensorOperators.h>
#include <ATen/ops/addcmul.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/softmax.h>

#include "core/cells/cell_set.hpp"
#include "models/blocks/activation.hpp"
#include "models/blocks/block_field.hpp"
#include "models/blocks/dropout.hpp"
#include "models/blocks/rotary.hpp"

namespace depthgrid {

at::Tensor visible_keys(const at::Tensor& executed) {
  const std::int64_t tokens = executed.size(-1);
  const at::Tensor past = at::ones({tokens, tokens}, executed.options()).tril();
  const at::Tensor self = at::eye(tokens, executed.options());
  return executed.unsqueeze(-2).logical_and(past).logical_or(self);
}

at::Tensor masked_attention(const ModelOptions& o, const at::Tensor& qkv, const at::Tensor& keys,
                            std::int64_t layer, const ForwardContext& context) {
  const std::int64_t rows = qkv.size(1), tokens = qkv.size(2), width = qkv.size(3) / 3;
  const std::int64_t head = width / o.heads;
  const at::Tensor wide = qkv.scalar_type() == at::kBFloat16 ? qkv.to(at::kFloat) : qkv;
  const std::vector<at::Tensor> parts =
      wide.view({o.cells, rows, tokens, 3, o.heads, head}).unbind(3);
  const auto heads = [](const at::Tensor& x) { return x.transpose(2, 3).contiguous(); };
  at::Tensor q = heads(parts[0]), k = heads(parts[1]);  // (E, B, H, T, D)
  if (o.positions == Positions::Rope) {
    const RotaryAngles angles = rotary_angles(o, 0, tokens, wide);
    q = rotate(angles, q.flatten(0, 1)).view(q.sizes());
    k = rotate(angles, k.flatten(0, 1)).view(k.sizes());
  }
  const at::Tensor scores =
      at::matmul(q * (1 / std::sqrt(static_cast<double>(head))), k.transpose(-2, -1))
          .masked_fill(keys.unsqueeze(2).logical_not(), -std::numeric_limits<double>::infinity());
  const at::Tensor weights = at::softmax(scores, -1);
  const at::Tensor kept = dropout(weights.view({o.cells, rows, o.heads * tokens, tokens}),
                                  o.dropout_attention, "attention", layer, context)
                              .view(weights.sizes());
  return at::matmul(kept, heads(parts[2])).transpose(2, 3).reshape({o.cells, rows, tokens, width});
}

at::Tensor masked_block(const ModelOptions& o, const BlockWeights& w, const at::Tensor& x,
                        const DepthPoint& at, const at::Tensor& executed,
                        const ForwardContext& context) {
  const at::Tensor qkv = apply(w.qkv, apply_norm(o, o.norm, w.norm1, x));
  const at::Tensor mixed = masked_attention(o, qkv, visible_keys(executed), at.step, context);
  const at::Tensor attention = apply(w.out, mixed).to(x.scalar_type());
  const at::Tensor y = o.sublayers == Sublayers::Sequential
                           ? at::addcmul(x, per_cell(at.h.to(x.scalar_type()), x), attention)
                           : x;
  const at::Tensor fed =
      apply(w.down, activate(o.activation, apply(w.up, apply_norm(o, o.norm, w.norm2, y))));
  return attention + dropout(fed.to(x.scalar_type()), o.dropout_mlp, "mlp", at.step, context);
}

}  // namespace depthgrid
