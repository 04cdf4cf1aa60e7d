#include "models/blocks/weight_gates.hpp"

#include <algorithm>

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>

#include "models/blocks/activation.hpp"

namespace depthgrid {

namespace {

constexpr std::int64_t kOfAttention = 4;

/// The matrices stacked by rows in `map`, each times its factor.
/// @param gains  (E, n)
void scale(AffineMap& map, const at::Tensor& gains) {
  const at::Tensor& w = map.weight;
  const at::Tensor factor = gains.to(w.scalar_type()).unsqueeze(2).unsqueeze(3);
  map.weight = (w.view({w.size(0), gains.size(1), -1, w.size(2)}) * factor).view(w.sizes());
}

struct MatrixShape {
  std::int64_t out, in;
};

MatrixShape shape_of(const ModelOptions& o, WeightType type) {
  if (type == WeightType::Up) return {o.up_rows(), o.width};
  if (type == WeightType::Down) return {o.width, o.hidden};
  return {o.width, o.width};
}

std::size_t index(WeightType type) {
  return static_cast<std::size_t>(type);
}

/// Source of a gate: if q, k and v share one, the network of q.
WeightType source_of(const ModelOptions& o, WeightType type) {
  const bool shares = o.modulation.share_qkv && (type == WeightType::K || type == WeightType::V);
  return shares ? WeightType::Q : type;
}

/// One gate for all rows of each matrix: the constant of the options.
WeightGates::AtNode constant(const ModelOptions& o, const at::TensorOptions& like) {
  const auto rows = [&](std::int64_t n) {
    return at::full({o.cells, n, 1}, o.modulation.value, like.requires_grad(false));
  };
  return {rows(3 * o.width), rows(o.width), rows(o.up_rows()), rows(o.width)};
}

AffineMap under(const AffineMap& map, const at::Tensor& gate) {
  if (!gate.defined()) return map;
  const at::Tensor factor = gate.to(map.weight.scalar_type());
  if (factor.size(2) == 1) return {map.weight, map.bias, factor};
  return {map.weight * factor, map.bias};
}

}  // namespace

BaseGains::BaseGains(ParameterSource& source, const ModelOptions& o) {
  if (!o.init.learned_gain) return;
  const std::int64_t matrices =
      o.mixer == Mixer::Mlp ? static_cast<std::int64_t>(kWeightTypes) : kOfAttention;
  gain_ = source.parameter({.name = "block.gain",
                            .shape = {matrices},
                            .group = ParameterGroup::Gain,
                            .init = {.fill = {1.0}}});
}

BlockWeights BaseGains::scaled(const BlockWeights& base) const {
  BlockWeights w = base;
  if (!gain_.defined()) return w;
  scale(w.qkv, gain_.narrow(1, 0, 3));
  scale(w.out, gain_.narrow(1, 3, 1));
  if (gain_.size(1) == kOfAttention) return w;
  scale(w.up, gain_.narrow(1, 4, 1));
  scale(w.down, gain_.narrow(1, 5, 1));
  return w;
}

std::vector<DepthFactor> BaseGains::values(std::int64_t steps) const {
  constexpr std::array<std::string_view, kWeightTypes> kNames = {
      "gain.q", "gain.k", "gain.v", "gain.out", "gain.up", "gain.down"};
  std::vector<DepthFactor> out;
  for (std::int64_t i = 0; gain_.defined() && i < gain_.size(1); ++i) {
    out.push_back({kNames[static_cast<std::size_t>(i)],
                   gain_.narrow(1, i, 1).unsqueeze(1).expand({-1, steps, -1})});
  }
  return out;
}

WeightGates::WeightGates(ParameterSource& source, const ModelOptions& o, const std::string& name) {
  const ModulationOptions& m = o.modulation;
  if (m.gate == GateKind::Constant) return;
  const std::vector<std::int64_t> hidden(m.hidden > 0 ? 1 : 0, m.hidden);
  for (std::size_t i = 0; i < kWeightTypes; ++i) {
    const auto type = static_cast<WeightType>(i);
    if (!m.target[i] || source_of(o, type) != type) continue;
    const MatrixShape shape = shape_of(o, type);
    const std::int64_t out = m.granularity[i] == Granularity::Row      ? shape.out
                             : m.granularity[i] == Granularity::Column ? shape.in
                                                                       : shape.out * shape.in;
    networks_[i] =
        DepthMlp(source, o, name + "." + std::string(kWeightTypeNames[i]), o.time.features(),
                 hidden, out, m.activation, ParameterGroup::Modulation, m.bias_init, m.init_gain);
  }
}

at::Tensor WeightGates::gate(const ModelOptions& o, WeightType type,
                             const at::Tensor& features) const {
  const WeightType source = source_of(o, type);
  const at::Tensor g =
      squash(o.modulation.gate, networks_[index(source)].forward(features));  // (E, L, n)
  const MatrixShape shape = shape_of(o, type);
  switch (o.modulation.granularity[index(source)]) {
    case Granularity::Row:
      return g.unsqueeze(3);
    case Granularity::Column:
      return g.unsqueeze(2);
    default:
      return g.view({g.size(0), g.size(1), shape.out, shape.in});
  }
}

std::vector<WeightGates::AtNode> WeightGates::evaluate(const ModelOptions& o,
                                                       const at::Tensor& features) const {
  const ModulationOptions& m = o.modulation;
  const auto layers = static_cast<std::size_t>(features.size(1));
  std::vector<AtNode> nodes(layers);
  if (m.gate == GateKind::Constant) {
    if (m.value != 1) std::ranges::fill(nodes, constant(o, features.options()));
    return nodes;
  }
  const auto spread = [&](const at::Tensor& all, at::Tensor AtNode::* member) {
    const std::vector<at::Tensor> each = all.unbind(1);  // its backward is one stack
    for (std::size_t i = 0; i < layers; ++i) nodes[i].*member = each[i];
  };
  const auto targeted = [&](WeightType type) { return m.target[index(type)]; };
  // q, k and v are stacked by rows in one matrix: (E, L, 3C, 1) or (E, L, 3C, C).
  if (targeted(WeightType::Q) || targeted(WeightType::K) || targeted(WeightType::V)) {
    const bool shared = m.share_qkv;
    std::vector<at::Tensor> parts;
    bool wide = false;
    for (const WeightType type : {WeightType::Q, WeightType::K, WeightType::V}) {
      const bool has = targeted(shared ? WeightType::Q : type);
      at::Tensor part = has ? gate(o, type, features)
                            : at::ones({o.cells, features.size(1), o.width, 1}, features.options());
      wide = wide || part.size(3) > 1;
      parts.push_back(part);
    }
    for (at::Tensor& part : parts) {
      part = part.expand({-1, -1, o.width, wide ? o.width : 1});
    }
    spread(at::cat(parts, 2), &AtNode::qkv);
  }
  if (targeted(WeightType::Out)) spread(gate(o, WeightType::Out, features), &AtNode::out);
  if (targeted(WeightType::Up)) spread(gate(o, WeightType::Up, features), &AtNode::up);
  if (targeted(WeightType::Down)) spread(gate(o, WeightType::Down, features), &AtNode::down);
  return nodes;
}

std::vector<GateValues> WeightGates::values(const ModelOptions& o,
                                            const at::Tensor& features) const {
  std::vector<GateValues> out;
  if (o.modulation.gate == GateKind::Constant) return out;
  for (std::size_t i = 0; i < kWeightTypes; ++i) {
    const WeightType source = source_of(o, static_cast<WeightType>(i));
    if (!o.modulation.target[index(source)]) continue;
    out.push_back({kWeightTypeNames[i], gate(o, source, features).flatten(2)});
  }
  return out;
}

BlockWeights gated(const BlockWeights& base, const WeightGates::AtNode& gates) {
  BlockWeights w = base;
  w.qkv = under(base.qkv, gates.qkv);
  w.out = under(base.out, gates.out);
  w.up = under(base.up, gates.up);
  w.down = under(base.down, gates.down);
  return w;
}

}  // namespace depthgrid
