#include "models/decode/block_step.hpp"

#include <vector>

#include <ATen/TensorOperators.h>
#include <ATen/ops/addcmul.h>

#include "core/cells/cell_set.hpp"
#include "models/blocks/activation.hpp"
#include "models/blocks/block_field.hpp"

namespace depthgrid {

Heads split_heads(const ModelOptions& o, const at::Tensor& qkv, const RotaryAngles& angles) {
  const std::int64_t tokens = qkv.size(2), width = qkv.size(3) / 3;
  const std::vector<at::Tensor> parts =
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

at::Tensor block_step(const ModelOptions& o, const DecodeBlock& block, const at::Tensor& x,
                      const at::Tensor& h, const Attend& attend, at::Tensor* state) {
  const BlockWeights& w = block.weights;
  const at::Tensor attention =
      apply(w.out, attend(apply(w.qkv, apply_norm(o, o.norm, w.norm1, x)))).to(x.scalar_type());
  const bool sequential = o.sublayers == Sublayers::Sequential;
  const at::Tensor y =
      sequential ? at::addcmul(x, per_cell(h.to(x.scalar_type()), x), attention) : x;
  const at::Tensor normed = apply_norm(o, o.norm, w.norm2, y);
  const at::Tensor second = block.ssm ? mix(*block.ssm, normed, state)
                                      : apply(w.down, activate(o.activation, apply(w.up, normed)));
  return attention + second.to(x.scalar_type());
}

}  // namespace depthgrid
