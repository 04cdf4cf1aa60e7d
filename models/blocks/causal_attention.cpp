#include "models/blocks/causal_attention.hpp"

#include <algorithm>

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/scaled_dot_product_attention.h>

#include "models/blocks/attention_heads.hpp"
#include "models/ops/packed_attention.hpp"

namespace depthgrid {
bool explicit_attention(const ModelOptions& o) {
  if (o.attention != AttentionKind::Auto) return o.attention == AttentionKind::Explicit;
  return std::ranges::any_of(o.dropout_attention, [](double p) { return p > 0; });
}

RotaryTables rotary_tables(const ModelOptions& o, std::int64_t tokens,
                           const at::TensorOptions& like, const RotaryAngles& own) {
  if (o.positions != Positions::Rope) return {};
  if (own.cosine.defined()) return {own.cosine.squeeze(2), own.sine.squeeze(2)};
  const RotaryAngles angles = rotary_angles(o, 0, tokens, at::empty({0}, like));
  return {angles.cosine.view({o.cells, tokens, -1}), angles.sine.view({o.cells, tokens, -1})};
}

at::Tensor causal_attention(const ModelOptions& o, const at::Tensor& input, std::int64_t layer,
                            const ForwardContext& context, const RotaryAngles& own) {
  const at::Tensor qkv = input.scalar_type() == at::kBFloat16 ? input.to(at::kFloat) : input;
  const std::int64_t tokens = qkv.size(2);
  const bool by_hand = explicit_attention(o);
  if (!by_hand && packed_attention_serves(qkv, o.heads)) {
    return packed_attention(qkv, o.heads, rotary_tables(o, tokens, qkv.options(), own));
  }
  RotaryAngles angles = own;
  if (o.positions == Positions::Rope && !own.cosine.defined()) {
    angles = rotary_angles(o, 0, tokens, qkv);
  }
  const Heads heads = split_heads(o, qkv, angles);
  if (!by_hand) {
    return join_heads(at::scaled_dot_product_attention(heads.q, heads.k, heads.v, {}, 0.0, true),
                      qkv);
  }
  const at::Tensor future =
      at::ones({tokens, tokens}, qkv.options().dtype(at::kBool).requires_grad(false)).triu(1);
  return join_heads(written_attention(o, heads, future, layer, context), qkv);
}

}  // namespace depthgrid
