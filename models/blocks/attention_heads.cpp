#include "models/blocks/attention_heads.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include <ATen/TensorOperators.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/softmax.h>

#include "models/blocks/dropout.hpp"

namespace depthgrid {

Heads split_heads(const ModelOptions& o, const at::Tensor& qkv, const RotaryAngles& angles) {
  const std::int64_t tokens = qkv.size(2), width = qkv.size(3) / 3;
  const std::vector<at::Tensor> parts =  // unbound, so that their gradient is one stack
      (qkv.scalar_type() == at::kBFloat16 ? qkv.to(at::kFloat) : qkv)
          .view({-1, tokens, 3, o.heads, width / o.heads})
          .unbind(2);
  Heads out{parts[0].transpose(1, 2), parts[1].transpose(1, 2), parts[2].transpose(1, 2)};
  if (angles.cosine.defined()) {
    out.q = rotate(angles, out.q);
    out.k = rotate(angles, out.k);
  }
  return out;
}

at::Tensor join_heads(const at::Tensor& mixed, const at::Tensor& like) {
  return mixed.transpose(1, 2).reshape(
      {like.size(0), like.size(1), like.size(2), mixed.size(1) * mixed.size(3)});
}

at::Tensor written_attention(const ModelOptions& o, const Heads& heads, const at::Tensor& hidden,
                             std::int64_t layer, const ForwardContext& context) {
  const at::Tensor& q = heads.q;
  const std::int64_t tokens = q.size(2);
  const double scale = 1 / std::sqrt(static_cast<double>(q.size(3)));
  const at::Tensor scores = at::matmul(q * scale, heads.k.transpose(2, 3))
                                .masked_fill(hidden, -std::numeric_limits<double>::infinity());
  const at::Tensor weights = at::softmax(scores, -1);
  const at::Tensor kept = dropout(weights.view({o.cells, -1, q.size(1) * tokens, tokens}),
                                  o.dropout_attention, "attention", layer, context)
                              .view(weights.sizes());
  return at::matmul(kept, heads.v);
}

}  // namespace depthgrid
