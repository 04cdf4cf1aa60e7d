#include "models/blocks/ssm_weights.hpp"

#include <cmath>
#include <string>
#include <utility>

#include <ATen/TensorOperators.h>
#include <ATen/ops/tensor.h>

#include "models/blocks/activation.hpp"
#include "models/blocks/block_parameters.hpp"
#include "models/ops/softplus.hpp"

namespace depthgrid {
namespace {

/// Hidden widths between the features and a gate: one or none.
std::vector<std::int64_t> hidden_widths(const ModulationOptions& m) {
  return std::vector<std::int64_t>(m.hidden > 0 ? 1 : 0, m.hidden);
}

constexpr std::array<std::string_view, 5> kNames = {"A", "B", "C", "D", "delta"};

/// Decay rates start between softplus(−4) = 0.018 and softplus(4) = 4.0, about log-uniform below
/// one; without discretisation only up to softplus(0), as the transition must stay below one.
struct Rates {
  double centre, reach;
};
Rates rates(const ModelOptions& o) {
  return o.ssm.discretisation == Discretisation::None ? Rates{-2, 2} : Rates{0, 4};
}

double softplus_of(double x) {
  return std::log1p(std::exp(x));
}

Init decay_init(const ModelOptions& o) {
  const Rates r = rates(o);
  if (!o.ssm.dense) {
    return {.draw = Init::Draw::Uniform, .scale = {r.reach}, .fill = {r.centre}};
  }
  // The off-diagonal entries of a row sum to less than half of the slowest rate, so by Gershgorin's
  // circle theorem every eigenvalue starts with a negative real part.
  const std::int64_t n = o.ssm.states;
  const double slowest = softplus_of(r.centre - r.reach);
  Init init{.draw = Init::Draw::Uniform, .scale = {slowest / (2 * static_cast<double>(n))}};
  for (std::int64_t i = 0; i < n; ++i) {
    const double place = (2 * static_cast<double>(i) + 1) / static_cast<double>(n) - 1;
    init.diagonal.push_back(-softplus_of(r.centre + r.reach * place));
  }
  return init;
}

}  // namespace

SsmWeights::Shape SsmWeights::shape_of(const ModelOptions& o, Part part) {
  const std::int64_t n = o.ssm.states, c = o.width;
  switch (part) {
    case A:
      return {n, o.ssm.dense ? n : 1};
    case B:
      return {n, c};
    case C:
      return {c, n};
    case D:
      return o.ssm.skip == SsmSkip::None ? Shape{} : Shape{c, o.ssm.skip == SsmSkip::Full ? c : 1};
    case Delta:
      return o.ssm.discretisation == Discretisation::None ? Shape{} : Shape{n, 1};
  }
  return {};
}

SsmWeights::SsmWeights(ParameterSource& source, const ModelOptions& o)
    : dt_min_(at::tensor(o.ssm.dt_min, at::TensorOptions(at::kFloat).device(o.device))
                  .view({-1, 1, 1})) {
  if (o.ssm.generated) {
    generated(source, o);
  } else {
    shared(source, o);
  }
  const ModulationOptions& m = o.modulation;
  if (m.gate == GateKind::Constant) return;
  for (std::size_t i = 0; i < kParts; ++i) {
    const Shape shape = shape_of(o, static_cast<Part>(i));
    if (shape.rows == 0 || (i == Delta && !o.ssm.generated)) continue;
    gates_[i] = DepthMlp(source, o, "modulation.ssm." + std::string(kNames[i]), o.time.features(),
                         hidden_widths(m), shape.rows * (o.ssm.element ? shape.columns : 1),
                         m.activation, ParameterGroup::Modulation, m.bias_init, m.init_gain);
  }
}

void SsmWeights::shared(ParameterSource& source, const ModelOptions& o) {
  // D starts like the diagonal of a full matrix.
  const std::array<Init, 4> start = {decay_init(o), weight_init(o, o.width, o.ssm.states),
                                     weight_init(o, o.ssm.states, o.width, 2 * o.layers),
                                     weight_init(o, o.width, o.width, 2 * o.layers)};
  for (std::size_t i = 0; i < start.size(); ++i) {
    const Shape shape = shape_of(o, static_cast<Part>(i));
    if (shape.rows == 0) continue;
    base_[i] = source.parameter({.name = "block.ssm." + std::string(kNames[i]),
                                 .shape = {shape.rows, shape.columns},
                                 .group = ParameterGroup::Ssm,
                                 .init = start[i],
                                 .factor = i != A && shape.columns > 1});
  }
  if (shape_of(o, Delta).rows == 0) return;
  delta_ =
      DepthMlp(source, o, "modulation.ssm.delta", o.time.features(), hidden_widths(o.modulation),
               o.ssm.states, o.modulation.activation, ParameterGroup::Ssm, {});
}

void SsmWeights::generated(ParameterSource& source, const ModelOptions& o) {
  const std::int64_t hidden = o.ssm.generator;
  time_ = DepthMlp(source, o, "hypernet.ssm.time", o.time.features(), {hidden}, hidden,
                   Activation::Silu, ParameterGroup::Hypernet, {});
  for (std::size_t i = 0; i < kParts; ++i) {
    const Shape shape = shape_of(o, static_cast<Part>(i));
    if (shape.rows == 0) continue;
    const std::string name = "hypernet.ssm." + std::string(kNames[i]);
    const std::int64_t out = shape.rows * shape.columns;
    generators_[i] = {source.parameter({.name = name + ".weight",
                                        .shape = {out, hidden},
                                        .group = ParameterGroup::Hypernet,
                                        .init = weight_init(o, hidden, out)}),
                      source.parameter({.name = name + ".bias",
                                        .shape = {1, out},
                                        .group = ParameterGroup::Hypernet,
                                        .init = bias_init(o, hidden)})};
  }
}

at::Tensor SsmWeights::gated(const ModelOptions& o, Part part, const at::Tensor& value,
                             const at::Tensor& features) const {
  if (o.modulation.gate == GateKind::Constant) return value;
  const Shape shape = shape_of(o, part);
  const at::Tensor g = squash(o.modulation.gate, gates_[part].forward(features));
  return value * g.view({g.size(0), g.size(1), shape.rows, o.ssm.element ? shape.columns : 1})
                     .to(value.scalar_type());
}

std::vector<DepthFactor> SsmWeights::gates(const ModelOptions& o,
                                           const at::Tensor& features) const {
  constexpr std::array<std::string_view, kParts> kFactors = {"ssm.A", "ssm.B", "ssm.C", "ssm.D",
                                                             "ssm.delta"};
  std::vector<DepthFactor> out;
  if (o.modulation.gate == GateKind::Constant) return out;
  for (std::size_t i = 0; i < kParts; ++i) {
    const Shape shape = shape_of(o, static_cast<Part>(i));
    if (shape.rows == 0 || (i == Delta && !o.ssm.generated)) continue;  // as they were made
    out.push_back({kFactors[i], squash(o.modulation.gate, gates_[i].forward(features))});
  }
  return out;
}

std::vector<GateValues> SsmWeights::gate_values(const ModelOptions& o,
                                                const at::Tensor& features) const {
  std::vector<GateValues> out;
  for (DepthFactor& gate : gates(o, features)) {
    out.push_back({gated_type(gate.name), std::move(gate.values)});
  }
  return out;
}

SsmAtNodes SsmWeights::evaluate(const ModelOptions& o, const at::Tensor& features,
                                at::ScalarType products) const {
  const at::Tensor m = o.ssm.generated ? time_.forward(features) : at::Tensor();
  const auto raw = [&](Part part) {  // (E, L or 1, rows, columns)
    if (!o.ssm.generated) return base_[part].unsqueeze(1);
    const Shape shape = shape_of(o, part);
    return apply(generators_[part], m).view({m.size(0), m.size(1), shape.rows, shape.columns});
  };
  const auto factor = [&](Part part) {
    at::Tensor value = raw(part);
    // Shared matrix factors already have that dtype; gates do not change it.
    if (o.ssm.generated && value.size(3) > 1) value = value.to(products);
    return gated(o, part, value, features)
        .expand({features.size(0), features.size(1), value.size(2), value.size(3)});
  };
  SsmAtNodes out;
  const at::Tensor a = raw(A);
  out.a = gated(o, A, o.ssm.dense ? a : softplus(a).neg(), features)
              .expand({features.size(0), features.size(1), a.size(2), a.size(3)});
  if (!o.ssm.dense) out.a = out.a.squeeze(3);
  out.b = factor(B);
  out.c = factor(C);
  if (o.ssm.skip == SsmSkip::Full) out.d = factor(D);
  if (o.ssm.skip == SsmSkip::Diagonal) out.d = factor(D).squeeze(3);
  if (o.ssm.discretisation == Discretisation::None) return out;
  out.delta = softplus(o.ssm.generated ? raw(Delta).squeeze(3) : delta_.forward(features));
  out.delta = out.delta + dt_min_.to(out.delta.scalar_type());
  if (o.ssm.generated) out.delta = gated(o, Delta, out.delta.unsqueeze(3), features).squeeze(3);
  return out;
}

}  // namespace depthgrid
