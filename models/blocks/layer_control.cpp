#include "models/blocks/layer_control.hpp"

#include <string>
#include <utility>

#include <ATen/TensorOperators.h>

namespace depthgrid {
namespace {

class ControlledField final : public VectorField {
 public:
  ControlledField(FieldPtr inner, const LayerControl& control)
      : inner_(std::move(inner)), control_(control) {}

  FieldValue evaluate(const at::Tensor& x, const DepthPoint& at, const Control& u) const override {
    return inner_->evaluate(x, at, u);
  }
  at::Tensor enter(const at::Tensor& x, const DepthPoint& at, const Control& u) const override {
    return control_.enter(x, at.step, u);
  }
  bool depends_on_h() const override { return inner_->depends_on_h(); }

 private:
  FieldPtr inner_;
  const LayerControl& control_;
};

/// Depth step of a discrete layer that no flow replaces.
std::int64_t step_of(const ModelOptions& o, std::int64_t layer) {
  const FlowOptions& flow = o.flow;
  return layer < flow.first || flow.replaced() == 0 ? layer
                                                    : layer - flow.replaced() + o.solver.steps;
}

}  // namespace

AffineMap control_map(ParameterSource& source, const ModelOptions& o, const std::string& name,
                      std::int64_t out) {
  AffineMap map;
  map.weight = source.parameter({.name = name + ".weight",
                                 .shape = {out, o.control.axes},
                                 .group = ParameterGroup::Control,
                                 .factor = true});
  return map;
}

LayerControl::LayerControl(ParameterSource& source, const ModelOptions& o) : profile_(o) {
  if (o.control.layers.empty()) return;
  maps_.resize(static_cast<std::size_t>(o.depth_steps()));
  times_.resize(maps_.size());
  for (const std::int64_t layer : o.control.layers) {
    const auto step = static_cast<std::size_t>(step_of(o, layer));
    maps_.at(step) =
        control_map(source, o, "layers." + std::to_string(layer) + ".control", o.width);
    times_.at(step) = static_cast<double>(layer) / static_cast<double>(o.layers);
  }
}

at::Tensor LayerControl::enter(const at::Tensor& x, std::int64_t step, const Control& u) const {
  const auto i = static_cast<std::size_t>(step);
  if (none() || !maps_.at(i).weight.defined()) return x;
  const at::Tensor given = profile_.signal(u, times_[i]);
  return given.defined() ? x + apply(maps_[i], given).to(x.scalar_type()) : x;
}

FieldPtr LayerControl::over(FieldPtr field) const {
  if (none()) return field;
  return std::make_unique<ControlledField>(std::move(field), *this);
}

}  // namespace depthgrid
