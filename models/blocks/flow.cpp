#include "models/blocks/flow.hpp"

#include <memory>
#include <string>

#include <ATen/TensorOperators.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/tensor.h>

#include "core/base/error.hpp"
#include "core/cells/cell_set.hpp"
#include "models/blocks/activation.hpp"
#include "models/blocks/block_field.hpp"
#include "models/blocks/block_parameters.hpp"
#include "models/blocks/decode_block.hpp"
#include "models/blocks/time_features.hpp"
#include "models/ops/host_kernels.hpp"

namespace depthgrid {
namespace {

/// The options of the block inside an attention field.
ModelOptions inner_options(ModelOptions o) {
  o.hidden = o.flow.hidden;
  o.activation = o.flow.activation;
  o.sublayers = o.flow.sublayers;
  return o;
}

/// The same block at every depth.
class FlowBlock final : public BlockField {
 public:
  FlowBlock(const Flow& flow, const ForwardContext& c)
      : BlockField(flow.block_options(), c), flow_(flow) {}

 protected:
  BlockWeights weights(const DepthPoint& at) const override { return flow_.block(at.t); }

 private:
  const Flow& flow_;
};

class AttentionFlow final : public VectorField {
 public:
  AttentionFlow(const Flow& flow, const ForwardContext& c) : flow_(flow), block_(flow, c) {}

  FieldValue evaluate(const at::Tensor& x, const DepthPoint& at, const Control& u) const override {
    const at::Tensor shift = flow_.shift(at.t, u);
    const DepthPoint whole{at.t, at::ones_like(at.h), flow_.mask(at)};  // free of the step length
    const at::Tensor y = shift.defined() ? x + shift.to(x.scalar_type()) : x;
    return {flow_.scaled(block_.evaluate(y, whole, {}).dx), {}};
  }

 private:
  const Flow& flow_;
  FlowBlock block_;
};

class MlpFlow final : public VectorField {
 public:
  MlpFlow(const Flow& flow, const ForwardContext& c) : flow_(flow), composed_(c.composed) {}

  FieldValue evaluate(const at::Tensor& x, const DepthPoint& at, const Control& u) const override {
    const WithoutHostKernels composed(composed_);
    const at::Tensor shift = flow_.shift(at.t, {});
    return {flow_.scaled(flow_.mlp(shift.defined() ? x + shift : x, u).to(x.scalar_type())), {}};
  }

 private:
  const Flow& flow_;
  bool composed_;
};

}  // namespace

at::Tensor GroupedSource::parameter(const ParameterSpec& spec) {
  ParameterSpec grouped = spec;
  grouped.group = group_;
  return source_.parameter(grouped);
}

Flow::Flow(ParameterSource& source, const ModelOptions& o)
    : options_(o), block_options_(inner_options(o)) {
  const FlowOptions& flow = o.flow;
  GroupedSource field(source, ParameterGroup::Field);
  if (flow.field != FieldKind::Mlp) {
    block_ = block_parameters(field, block_options_, "flow.block");
    if (flow.field == FieldKind::TimeIndexed)
      gates_.emplace(field, block_options_, "flow.modulation");
  } else {
    const std::int64_t in = o.width + flow.control;
    block_.up = affine_parameters(field, o, {.name = "flow.mlp.up", .in = in, .out = flow.hidden});
    block_.down.weight =
        field.parameter({.name = "flow.mlp.down.weight",
                         .shape = {o.width, flow.hidden},
                         .init = {.draw = Init::Draw::Normal, .scale = flow.output_std},
                         .factor = true});
    block_.down.bias =
        field.parameter({.name = "flow.mlp.down.bias", .shape = {1, o.width}, .factor = true});
  }
  if (flow.time_embedding) {
    time_ = DepthMlp(field, o, "flow.time", 1, {o.width}, o.width, Activation::Silu,
                     ParameterGroup::Field, {});
  }
  if (flow.control > 0 && flow.field != FieldKind::Mlp) {
    GroupedSource control(source, ParameterGroup::Control);
    control_ = affine_parameters(
        control, o,
        {.name = "flow.control", .in = flow.control, .out = o.width, .bias = flow.control_bias});
  }
  if (flow.alpha_learned) {
    alpha_ = source.parameter({.name = "flow.alpha",
                               .shape = {1},
                               .group = ParameterGroup::Alpha,
                               .init = {.fill = flow.alpha}});
  } else {
    alpha_ = at::tensor(flow.alpha, at::TensorOptions(at::kFloat).device(o.device)).unsqueeze(1);
  }
}

FieldPtr Flow::field(const ForwardContext& context) const {
  if (options_.flow.field == FieldKind::Mlp) return std::make_unique<MlpFlow>(*this, context);
  return std::make_unique<AttentionFlow>(*this, context);
}

DecodeBlock Flow::decode_block(const at::Tensor& t) const {
  DecodeBlock block;
  const bool rows = options_.flow.field == FieldKind::Mlp;
  const at::Tensor still = shift(t, {});  // made once: it does not change with the tokens
  const at::Tensor h = at::ones_like(t);
  const BlockWeights weights = rows ? BlockWeights() : this->block(t);
  block.field = [this, rows, t, still, h, weights](const at::Tensor& x, const Attend& attend,
                                                   const Control& u) {
    const at::Tensor moved = u.u.defined() && !rows ? shift(t, u) : still;
    const at::Tensor y = moved.defined() ? x + moved.to(x.scalar_type()) : x;
    if (rows) return scaled(mlp(y, u).to(x.scalar_type()));
    return scaled(block_step(block_options_, {weights}, y, h, attend, nullptr));
  };
  return block;
}

BlockWeights Flow::block(const at::Tensor& t) const {
  if (!gates_) return block_;
  const at::Tensor features = time_features(options_.time, t.unsqueeze(1));
  const std::vector<WeightGates::AtNode> gates = gates_->evaluate(block_options_, features);
  return gated(block_, gates.front());
}

std::vector<GateValues> Flow::gates(const at::Tensor& t) const {
  if (!has_gates()) return {};
  return gates_->values(block_options_, time_features(options_.time, t));
}

at::Tensor Flow::signal(const Control& u) const {
  const std::int64_t axes = options_.flow.control;
  if (!u.u.defined() || axes == 0) return {};
  if (u.u.dim() != 4) throw ShapeError("a control signal is (E, B, T, U)");
  if (u.u.size(3) != axes) {
    throw ShapeError("a control signal of " + std::to_string(u.u.size(-1)) +
                     " axes meets a field of " + std::to_string(axes));
  }
  return u.u.stride(2) == 0 ? u.u.narrow(2, 0, 1) : u.u;
}

at::Tensor Flow::shift(const at::Tensor& t, const Control& u) const {
  at::Tensor sum;
  if (options_.flow.time_embedding) sum = time_.forward(t.view({-1, 1, 1})).unsqueeze(1);
  const at::Tensor given = control_.weight.defined() ? signal(u) : at::Tensor();
  if (!given.defined()) return sum;
  const at::Tensor steered = apply(control_, given);
  return sum.defined() ? sum + steered : steered;
}

at::Tensor Flow::scaled(const at::Tensor& f) const {
  return per_cell(alpha_.squeeze(1).to(f.scalar_type()), f) * f;
}

at::Tensor Flow::mlp(const at::Tensor& y, const Control& u) const {
  const std::int64_t width = options_.width, axes = options_.flow.control;
  const AffineMap& up = block_.up;
  at::Tensor a = apply({axes > 0 ? up.weight.narrow(2, 0, width) : up.weight, up.bias}, y);
  const at::Tensor given = signal(u);
  if (given.defined()) a = a + apply({up.weight.narrow(2, width, axes), {}}, given);
  return apply(block_.down, activate(options_.flow.activation, a));
}

std::int64_t Flow::mask(const DepthPoint& at) const {
  if (options_.flow.mask_per_solve) return options_.flow.first;
  return at.step + at.stage * options_.depth_steps();
}

}  // namespace depthgrid
