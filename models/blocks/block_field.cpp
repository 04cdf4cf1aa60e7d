#include "models/blocks/block_field.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include <ATen/TensorOperators.h>
#include <ATen/ops/addcmul.h>
#include <ATen/ops/tensor.h>

#include "core/base/error.hpp"
#include "core/cells/cell_set.hpp"
#include "models/blocks/activation.hpp"
#include "models/blocks/attention.hpp"
#include "models/blocks/dropout.hpp"
#include "models/ops/host_kernels.hpp"
#include "models/ops/sublayer.hpp"
#include "models/ops/whole_block.hpp"

namespace depthgrid {

namespace {

SublayerTensors sublayer(const ModelOptions& o, const NormWeights& norm, const AffineMap& first,
                         const AffineMap& second) {
  const NormRow::Form form = o.norm == NormChoice::None  ? NormRow::Form::None
                             : o.norm == NormChoice::Rms ? NormRow::Form::Rms
                                                         : NormRow::Form::Layer;
  const auto map = [](const AffineMap& m) { return SublayerMap{m.weight, m.gate, m.bias}; };
  return {form,       norm.scale, norm.shift, at::tensor(o.norm_eps, at::kDouble),
          map(first), map(second)};
}

std::optional<RowActivation> row_activation(Activation kind) {
  switch (kind) {
    case Activation::Gelu:
      return RowActivation::GeluErf;
    case Activation::GeluTanh:
      return RowActivation::GeluTanh;
    case Activation::Relu:
      return RowActivation::Relu;
    case Activation::Silu:
      return RowActivation::Silu;
    default:
      return std::nullopt;
  }
}

bool drops(const std::vector<double>& p, const ForwardContext& context) {
  return context.training && std::ranges::any_of(p, [](double v) { return v > 0; });
}

}  // namespace

at::Tensor apply_norm(const ModelOptions& o, NormChoice kind, const NormWeights& w,
                      const at::Tensor& x) {
  if (kind == NormChoice::None) return x;
  return per_cell_norm(kind == NormChoice::Rms ? NormKind::Rms : NormKind::Layer, x, w.scale,
                       w.shift, o.norm_eps);
}

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

at::Tensor BlockField::second_sublayer(const BlockWeights& w, const at::Tensor& normed,
                                       const DepthPoint&) const {
  return feed_forward(options_, w, normed);
}

FieldValue BlockField::evaluate(const at::Tensor& x, const DepthPoint& at, const Control&) const {
  const WithoutHostKernels composed(context_.composed);
  return {increment(x, at), {}};
}

at::Tensor BlockField::increment(const at::Tensor& x, const DepthPoint& at,
                                 const RotaryAngles& own) const {
  const ModelOptions& o = options_;
  const BlockWeights w = weights(at);
  const bool sequential = o.sublayers == Sublayers::Sequential;
  const at::Tensor h = at.h.to(x.scalar_type());
  const std::optional<RowActivation> act = row_activation(o.activation);
  if (feeds_forward() && act && !explicit_attention(o) && !drops(o.dropout_mlp, context_)) {
    WholeBlock block{sublayer(o, w.norm1, w.qkv, w.out),
                     sublayer(o, w.norm2, w.up, w.down),
                     o.heads,
                     *act,
                     {},
                     sequential ? h.contiguous() : at::Tensor()};
    if (whole_block_serves(x, block)) {
      block.rotary = rotary_tables(o, x.size(2), x.options(), own);
      return whole_block(x, block);
    }
  }
  const at::Tensor attention = attention_branch(w, x, at.step, own);
  return second_branch(w, second_input(o, x, h, attention), attention, at);
}

at::Tensor BlockField::attention_branch(const BlockWeights& w, const at::Tensor& x,
                                        std::int64_t layer, const RotaryAngles& own) const {
  const ModelOptions& o = options_;
  const SublayerTensors whole = sublayer(o, w.norm1, w.qkv, w.out);
  if (!explicit_attention(o) && sublayer_serves(x, whole, o.heads)) {
    return attention_sublayer(x, whole, o.heads, rotary_tables(o, x.size(2), x.options(), own));
  }
  return attention_increment(o, w, x, [&](const at::Tensor& qkv) {
    return causal_attention(o, qkv, layer, context_, own);
  });
}

at::Tensor BlockField::second_branch(const BlockWeights& w, const at::Tensor& y,
                                     const at::Tensor& attention, const DepthPoint& at) const {
  const ModelOptions& o = options_;
  const std::optional<RowActivation> act = row_activation(o.activation);
  if (feeds_forward() && act && !drops(o.dropout_mlp, context_)) {
    const SublayerTensors whole = sublayer(o, w.norm2, w.up, w.down);
    if (sublayer_serves(y, whole, 0)) return feed_forward_sublayer(y, whole, *act, attention);
  }
  const at::Tensor second = second_sublayer(w, apply_norm(o, o.norm, w.norm2, y), at);
  return attention + dropout(second.to(y.scalar_type()), o.dropout_mlp, "mlp", at.step, context_);
}

}  // namespace depthgrid
