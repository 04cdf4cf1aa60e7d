#include "models/blocks/residual_scale.hpp"

#include <algorithm>

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/where.h>

#include "core/base/error.hpp"
#include "core/cells/cell_rng.hpp"
#include "core/cells/queued_tensor.hpp"

namespace depthgrid {
namespace {

at::Tensor column(const std::vector<double>& v, const at::TensorOptions& options) {
  return queued_tensor(v, options).unsqueeze(1);
}

}  // namespace

ResidualScale::ResidualScale(ParameterSource& source, const ModelOptions& o) {
  steps_ = o.timed() ? o.depth_steps() : o.layers;
  layers_per_step_ = static_cast<double>(o.layers) / static_cast<double>(steps_);
  const at::TensorOptions options = at::TensorOptions(at::kFloat).device(o.device);
  if (o.residual.kind == ScaleKind::Fixed) {
    h_ = column(o.residual.scale, options);
  } else {
    h_ = source.parameter({.name = "residual.scale",
                           .shape = {o.residual.kind == ScaleKind::Learned ? 1 : o.layers},
                           .group = ParameterGroup::Residual,
                           .init = {.fill = o.residual.scale}});
    if (!h_.defined()) return;
  }
  const TimeOptions& time = o.time;
  t_ = layer_grid(time.nodes, steps_, column(o.residual.scale, options)).t;
  const std::vector<double> constant(time.constant.begin(), time.constant.end());
  constant_ = column(constant, options).gt(0);
  t_ = at::where(constant_, column(time.value, options), t_);
}

DepthGrid ResidualScale::grid(const ModelOptions& o, const ForwardContext& context) const {
  DepthGrid grid =
      layer_grid(o.time.nodes, steps_, steps_ == o.layers ? h_ : h_ * layers_per_step_);
  grid.t = t_;
  if (grid.span.defined()) grid.span = grid.span.masked_fill(constant_, 0);
  const bool jitters = std::ranges::any_of(o.time.jitter, [](double j) { return j > 0; });
  if (context.training && jitters) {
    if (context.seeds == nullptr) throw Error("time jitter needs the cells' seeds");
    const at::Tensor draw = at::empty({o.cells, 1, steps_}, t_.options());
    fill_uniform(draw, *context.seeds, {.stream = stream_id("time/jitter"), .step = context.step},
                 -1, 1);
    grid.t =
        t_ + draw.squeeze(1) * column(o.time.jitter, t_.options()) / static_cast<double>(steps_);
  }
  return grid;
}

}  // namespace depthgrid
