#include "models/routing/masked_block.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/ones.h>

#include "models/blocks/attention_heads.hpp"
#include "models/blocks/block_body.hpp"
#include "models/blocks/dropout.hpp"

namespace depthgrid {

at::Tensor visible_keys(const at::Tensor& executed) {
  const std::int64_t tokens = executed.size(-1);
  const at::Tensor past = at::ones({tokens, tokens}, executed.options()).tril();
  const at::Tensor self = at::eye(tokens, executed.options());
  return executed.unsqueeze(-2).logical_and(past).logical_or(self);
}

at::Tensor masked_attention(const ModelOptions& o, const at::Tensor& qkv, const at::Tensor& keys,
                            std::int64_t layer, const ForwardContext& context) {
  const at::Tensor wide = qkv.scalar_type() == at::kBFloat16 ? qkv.to(at::kFloat) : qkv;
  RotaryAngles angles;
  if (o.positions == Positions::Rope) angles = rotary_angles(o, 0, wide.size(2), wide);
  const Heads split = split_heads(o, wide, angles);
  const Heads heads{split.q.contiguous(), split.k.contiguous(), split.v.contiguous()};
  const at::Tensor hidden = keys.logical_not().flatten(0, 1).unsqueeze(1);  // (E B, 1, T, T)
  return join_heads(written_attention(o, heads, hidden, layer, context), wide);
}

at::Tensor masked_block(const ModelOptions& o, const BlockWeights& w, const at::Tensor& x,
                        const DepthPoint& at, const at::Tensor& executed,
                        const ForwardContext& context) {
  const at::Tensor keys = visible_keys(executed);
  const Attend attend = [&](const at::Tensor& qkv) {
    return masked_attention(o, qkv, keys, at.step, context);
  };
  return block_body(o, w, x, at.h, attend, [&](const at::Tensor& normed) {
    const at::Tensor fed = feed_forward(o, w, normed).to(x.scalar_type());
    return dropout(fed, o.dropout_mlp, "mlp", at.step, context);
  });
}

}  // namespace depthgrid
