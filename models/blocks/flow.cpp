#include "models/blocks/flow.hpp"

#include <memory>
#include <string>

#include <ATen/TensorOperators.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/tensor.h>

#include "core/cells/cell_set.hpp"
#include "models/blocks/activation.hpp"
#include "models/blocks/attention.hpp"
#include "models/blocks/block_field.hpp"
#include "models/blocks/block_parameters.hpp"
#include "models/blocks/decode_block.hpp"
#include "models/blocks/dropout.hpp"
#include "models/blocks/layer_control.hpp"
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

/// Whether the signal's columns are a part of the first matrix of field mlp.
bool joint_map(const ModelOptions& o) {
  return o.flow.field == FieldKind::Mlp && o.control.in_flow && o.control.drawn &&
         o.control.injection == Injection::Concat;
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

/// α F and F.
FieldValue value_of(const Flow& flow, const at::Tensor& f) {
  return {.dx = flow.scaled(f), .unscaled = f};
}

class AttentionFlow final : public VectorField {
 public:
  AttentionFlow(const Flow& flow, const ForwardContext& c) : flow_(flow), block_(flow, c) {}

  FieldValue evaluate(const at::Tensor& x, const DepthPoint& at, const Control& u) const override {
    const at::Tensor shift = flow_.shift(at.t, u);
    const DepthPoint whole{at.t, at::ones_like(at.h), flow_.mask(at)};  // free of the step length
    const at::Tensor y = shift.defined() ? x + shift.to(x.scalar_type()) : x;
    return value_of(flow_, block_.evaluate(y, whole, {}).dx);
  }

 private:
  const Flow& flow_;
  FlowBlock block_;
};

/// The same where the signal enters the block. Without a signal, too, it is composed of operations:
/// u = 0 and no signal take one path.
class EnteredFlow final : public VectorField {
 public:
  EnteredFlow(const Flow& flow, const ForwardContext& c) : flow_(flow), context_(c) {}

  FieldValue evaluate(const at::Tensor& x, const DepthPoint& at, const Control& u) const override {
    const WithoutHostKernels composed(context_.composed);
    const ModelOptions& o = flow_.block_options();
    const at::Tensor shift = flow_.shift(at.t, {});
    const std::int64_t mask = flow_.mask(at);
    const Attend attend = [&](const at::Tensor& qkv) {
      return causal_attention(o, qkv, mask, context_, {});
    };
    const SecondSublayer drop = [&](const at::Tensor& f) {
      return dropout(f, o.dropout_mlp, "mlp", mask, context_);
    };
    const at::Tensor y = shift.defined() ? x + shift.to(x.scalar_type()) : x;
    return value_of(flow_, flow_.entered_block(y, at.t, u, attend, drop));
  }

 private:
  const Flow& flow_;
  const ForwardContext& context_;
};

class MlpFlow final : public VectorField {
 public:
  MlpFlow(const Flow& flow, const ForwardContext& c) : flow_(flow), composed_(c.composed) {}

  FieldValue evaluate(const at::Tensor& x, const DepthPoint& at, const Control& u) const override {
    const WithoutHostKernels composed(composed_);
    const at::Tensor shift = flow_.shift(at.t, u);
    const at::Tensor y = shift.defined() ? x + shift : x;
    return value_of(flow_, flow_.mlp(y, at.t, u).to(x.scalar_type()));
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
    : options_(o), block_options_(inner_options(o)), profile_(o) {
  const FlowOptions& flow = o.flow;
  GroupedSource field(source, ParameterGroup::Field);
  if (flow.field != FieldKind::Mlp) {
    block_ = block_parameters(field, block_options_, "flow.block");
    if (flow.field == FieldKind::TimeIndexed)
      gates_.emplace(field, block_options_, "flow.modulation");
  } else {
    const std::int64_t in = o.width + (joint_map(o) ? o.control.axes : 0);
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
  if (o.control.in_flow) control_parameters(source);
  if (flow.alpha_learned) {
    alpha_ = source.parameter({.name = "flow.alpha",
                               .shape = {1},
                               .group = ParameterGroup::Alpha,
                               .init = {.fill = flow.alpha}});
  } else {
    alpha_ = at::tensor(flow.alpha, at::TensorOptions(at::kFloat).device(o.device)).unsqueeze(1);
  }
}

void Flow::control_parameters(ParameterSource& source) {
  const ModelOptions& o = options_;
  const ControlOptions& control = o.control;
  const bool rows = o.flow.field == FieldKind::Mlp;
  const auto map = [&](const std::string& name, std::int64_t out) {
    return control_map(source, o, "flow.control" + name, out);
  };
  switch (control.injection) {
    case Injection::Additive: {
      if (!control.drawn) {
        control_ = map("", o.width);
        if (control.bias) {
          control_.bias = source.parameter({.name = "flow.control.bias",
                                            .shape = {1, o.width},
                                            .group = ParameterGroup::Control});
        }
        break;
      }
      GroupedSource grouped(source, ParameterGroup::Control);
      control_ = affine_parameters(
          grouped, o,
          {.name = "flow.control", .in = control.axes, .out = o.width, .bias = control.bias});
      break;
    }
    case Injection::Film:
      if (rows) {
        film_.front() = {map(".scale", o.flow.hidden), map(".shift", o.flow.hidden)};
        break;
      }
      film_ = {Film{map(".scale1", o.width), map(".shift1", o.width)},
               Film{map(".scale2", o.width), map(".shift2", o.width)}};
      break;
    case Injection::Concat:
      if (joint_map(o)) break;
      if (!rows) beside_qkv_ = map(".qkv", 3 * o.width);
      beside_up_ = map(".up", o.flow.hidden);
      break;
  }
}

FieldPtr Flow::field(const ForwardContext& context) const {
  if (options_.flow.field == FieldKind::Mlp) return std::make_unique<MlpFlow>(*this, context);
  if (enters_block()) return std::make_unique<EnteredFlow>(*this, context);
  return std::make_unique<AttentionFlow>(*this, context);
}

DecodeBlock Flow::decode_block(const at::Tensor& t) const {
  DecodeBlock block;
  const bool rows = options_.flow.field == FieldKind::Mlp;
  const at::Tensor still = shift(t, {});  // made once: it does not change with the tokens
  const at::Tensor h = at::ones_like(t);
  const BlockWeights weights = rows ? BlockWeights() : this->block(t);
  const bool entered = enters_block();
  const SecondSublayer keep = [](const at::Tensor& f) { return f; };
  block.field = [this, rows, t, still, h, weights, entered, keep](
                    const at::Tensor& x, const Attend& attend, const Control& u) {
    const at::Tensor moved = u.u.defined() ? shift(t, u) : still;
    const at::Tensor y = moved.defined() ? x + moved.to(x.scalar_type()) : x;
    if (rows) return scaled(mlp(y, t, u).to(x.scalar_type()));
    if (entered) return scaled(entered_block(y, t, u, attend, keep));
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

at::Tensor Flow::signal(const at::Tensor& t, const Control& u) const {
  const FlowOptions& flow = options_.flow;
  const at::Tensor whole =
      (t * static_cast<double>(flow.replaced()) + static_cast<double>(flow.first)) /
      static_cast<double>(options_.layers);
  return profile_.signal(u, whole);
}

at::Tensor Flow::shift(const at::Tensor& t, const Control& u) const {
  at::Tensor sum;
  if (options_.flow.time_embedding) sum = time_.forward(t.view({-1, 1, 1})).unsqueeze(1);
  const at::Tensor given = control_.weight.defined() ? signal(t, u) : at::Tensor();
  if (!given.defined()) return sum;
  const at::Tensor steered = apply(control_, given);
  return sum.defined() ? sum + steered : steered;
}

at::Tensor Flow::modulated(const at::Tensor& x, const Film& film, const at::Tensor& given) {
  if (!given.defined() || !film.scale.weight.defined()) return x;
  // 1 + G u in the precision of the state: bfloat16 has no numbers near 1 but for multiples of
  // 2^-7.
  return x * (1 + apply(film.scale, given).to(x.scalar_type())) +
         apply(film.shift, given).to(x.scalar_type());
}

at::Tensor Flow::with_beside(const at::Tensor& x, const AffineMap& map, const at::Tensor& given) {
  return given.defined() && map.weight.defined() ? x + apply(map, given) : x;
}

at::Tensor Flow::entered_block(const at::Tensor& y, const at::Tensor& t, const Control& u,
                               const Attend& attend, const SecondSublayer& drop) const {
  const ModelOptions& o = block_options_;
  const BlockWeights w = block(t);
  const at::Tensor given = signal(t, u);
  const at::Tensor first = modulated(apply_norm(o, o.norm, w.norm1, y), film_[0], given);
  const at::Tensor qkv = with_beside(apply(w.qkv, first), beside_qkv_, given);
  const at::Tensor attention = apply(w.out, attend(qkv)).to(y.scalar_type());
  const at::Tensor z = second_input(o, y, at::ones_like(t), attention);
  const at::Tensor second = modulated(apply_norm(o, o.norm, w.norm2, z), film_[1], given);
  const at::Tensor hidden = with_beside(apply(w.up, second), beside_up_, given);
  return attention + drop(apply(w.down, activate(o.activation, hidden)).to(y.scalar_type()));
}

at::Tensor Flow::scaled(const at::Tensor& f) const {
  return per_cell(alpha_.squeeze(1).to(f.scalar_type()), f) * f;
}

at::Tensor Flow::mlp(const at::Tensor& y, const at::Tensor& t, const Control& u) const {
  const std::int64_t width = options_.width, axes = options_.control.axes;
  const AffineMap& up = block_.up;
  const bool joint = joint_map(options_);
  const at::Tensor given = signal(t, u);
  at::Tensor a = apply({joint ? up.weight.narrow(2, 0, width) : up.weight, up.bias}, y);
  if (joint) a = with_beside(a, {up.weight.narrow(2, width, axes), {}}, given);
  a = with_beside(modulated(a, film_[0], given), beside_up_, given);
  return apply(block_.down, activate(options_.flow.activation, a));
}

std::int64_t Flow::mask(const DepthPoint& at) const {
  if (options_.flow.mask_per_solve) return options_.flow.first;
  return at.step + at.stage * options_.depth_steps();
}

}  // namespace depthgrid
