#include "models/blocks/block_body.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/addcmul.h>

#include "core/cells/cell_set.hpp"
#include "models/blocks/activation.hpp"
#include "models/blocks/block_field.hpp"

namespace depthgrid {

at::Tensor attention_increment(const ModelOptions& o, const BlockWeights& w, const at::Tensor& x,
                               const Attend& attend) {
  const at::Tensor qkv = apply(w.qkv, apply_norm(o, o.norm, w.norm1, x));
  return apply(w.out, attend(qkv)).to(x.scalar_type());
}

at::Tensor second_input(const ModelOptions& o, const at::Tensor& x, const at::Tensor& h,
                        const at::Tensor& attention) {
  if (o.sublayers != Sublayers::Sequential) return x;
  return at::addcmul(x, per_cell(h.to(x.scalar_type()), x), attention);
}

at::Tensor feed_forward(const ModelOptions& o, const BlockWeights& w, const at::Tensor& normed) {
  return apply(w.down, activate(o.activation, apply(w.up, normed)));
}

at::Tensor block_body(const ModelOptions& o, const BlockWeights& w, const at::Tensor& x,
                      const at::Tensor& h, const Attend& attend, const SecondSublayer& second) {
  const at::Tensor attention = attention_increment(o, w, x, attend);
  const at::Tensor y = second_input(o, x, h, attention);
  return attention + second(apply_norm(o, o.norm, w.norm2, y)).to(x.scalar_type());
}

}  // namespace depthgrid
