#include "models/blocks/block_field.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/addcmul.h>
#include <ATen/ops/tensor.h>

#include "core/base/error.hpp"
#include "core/cells/cell_set.hpp"
#include "models/blocks/activation.hpp"
#include "models/blocks/causal_attention.hpp"
#include "models/blocks/dropout.hpp"

namespace depthgrid {

at::Tensor apply_norm(const ModelOptions& o, NormChoice kind, const NormWeights& w,
                      const at::Tensor& x) {
  if (kind == NormChoice::None) return x;
  return per_cell_norm(kind == NormChoice::Rms ? NormKind::Rms : NormKind::Layer, x, w.scale,
                       w.shift, at::tensor(o.norm_eps, at::kDouble));
}

at::Tensor BlockField::second_sublayer(const BlockWeights& w, const at::Tensor& normed,
                                       const DepthPoint&) const {
  return apply(w.down, activate(options_.activation, apply(w.up, normed)));
}

FieldValue BlockField::evaluate(const at::Tensor& x, const DepthPoint& at, const Control&) const {
  const ModelOptions& o = options_;
  const BlockWeights w = weights(at);
  const at::Tensor qkv = apply(w.qkv, apply_norm(o, o.norm, w.norm1, x));
  const at::Tensor attention =
      apply(w.out, causal_attention(o, qkv, at.step, context_)).to(x.scalar_type());
  const bool sequential = o.sublayers == Sublayers::Sequential;
  const at::Tensor y =
      sequential ? at::addcmul(x, per_cell(at.h.to(x.scalar_type()), x), attention) : x;
  const at::Tensor second = second_sublayer(w, apply_norm(o, o.norm, w.norm2, y), at);
  const at::Tensor fed =
      dropout(second.to(x.scalar_type()), o.dropout_mlp, "mlp", at.step, context_);
  return {attention + fed, {}};
}

}  // namespace depthgrid
