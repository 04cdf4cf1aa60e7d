#include "models/blocks/causal_attention.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/softmax.h>

#include "models/blocks/dropout.hpp"
#include "models/blocks/rotary.hpp"
#include "models/ops/packed_attention.hpp"

namespace depthgrid {
namespace {

at::Tensor written_out(const ModelOptions& o, const at::Tensor& q, const at::Tensor& k,
                       const at::Tensor& v, std::int64_t layer, const ForwardContext& context) {
  const std::int64_t tokens = q.size(2);
  const double scale = 1 / std::sqrt(static_cast<double>(q.size(3)));
  const at::Tensor future =
      at::ones({tokens, tokens}, q.options().dtype(at::kBool).requires_grad(false)).triu(1);
  const at::Tensor scores = at::matmul(q * scale, k.transpose(2, 3))
                                .masked_fill(future, -std::numeric_limits<double>::infinity());
  const at::Tensor weights = at::softmax(scores, -1);
  const at::Tensor kept = dropout(weights.view({o.cells, -1, q.size(1) * tokens, tokens}),
                                  o.dropout_attention, "attention", layer, context)
                              .view(weights.sizes());
  return at::matmul(kept, v);
}

}  // namespace

bool explicit_attention(const ModelOptions& o) {
  if (o.attention != AttentionKind::Auto) return o.attention == AttentionKind::Explicit;
  return std::ranges::any_of(o.dropout_attention, [](double p) { return p > 0; });
}

RotaryTables rotary_tables(const ModelOptions& o, std::int64_t tokens,
                           const at::TensorOptions& like) {
  if (o.positions != Positions::Rope) return {};
  const RotaryAngles angles = rotary_angles(o, 0, tokens, at::empty({0}, like));
  return {angles.cosine.view({o.cells, tokens, -1}), angles.sine.view({o.cells, tokens, -1})};
}

at::Tensor causal_attention(const ModelOptions& o, const at::Tensor& input, std::int64_t layer,
                            const ForwardContext& context) {
  const at::Tensor qkv = input.scalar_type() == at::kBFloat16 ? input.to(at::kFloat) : input;
  const std::int64_t tokens = qkv.size(2), width = qkv.size(3) / 3, channels = width / o.heads;
  const bool by_hand = explicit_attention(o);
  if (!by_hand && packed_attention_serves(qkv, o.heads)) {
    return packed_attention(qkv, o.heads, rotary_tables(o, tokens, qkv.options()));
  }
  const at::Tensor heads = qkv.view({-1, tokens, 3, o.heads, channels});
  const std::vector<at::Tensor> parts = heads.unbind(2);  // its gradient is one stack
  at::Tensor q = parts[0].transpose(1, 2);
  at::Tensor k = parts[1].transpose(1, 2);
  const at::Tensor v = parts[2].transpose(1, 2);
  if (o.positions == Positions::Rope) {
    const RotaryAngles angles = rotary_angles(o, 0, tokens, qkv);
    q = rotate(angles, q.contiguous());
    k = rotate(angles, k.contiguous());
  }
  const at::Tensor mixed = by_hand ? written_out(o, q, k, v, layer, context)
                                   : at::scaled_dot_product_attention(q, k, v, {}, 0.0, true);
  return mixed.transpose(1, 2).reshape({qkv.size(0), qkv.size(1), tokens, width});
}

}  // namespace depthgrid
