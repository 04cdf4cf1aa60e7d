#include "models/continuous_model.hpp"

#include <algorithm>
#include <utility>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros_like.h>

#include "core/base/error.hpp"
#include "core/base/nan.hpp"
#include "core/cells/cell_set.hpp"
#include "core/depth/integrator.hpp"
#include "models/blocks/timed_field.hpp"
#include "models/families/solved_depth.hpp"

namespace depthgrid {
namespace {

bool is_flow(const ModelOptions& o) {
  return o.flow.replaced() > 0 && o.flow.field != FieldKind::Block;
}

/// dH/dτ = speed F(H, t), in the part's own time.
class Scaled final : public VectorField {
 public:
  /// @param speed  (E). @param held  (E) the depth-time that a cell's field has at all times, or
  /// NaN.
  /// @param own  the signal of every token.
  Scaled(const VectorField& field, at::Tensor speed, at::Tensor held, bool limit, Control own)
      : field_(field),
        speed_(std::move(speed)),
        held_(std::move(held)),
        limit_(limit),
        own_(std::move(own)) {}

  FieldValue evaluate(const at::Tensor& x, const DepthPoint& at, const Control&) const override {
    const at::Tensor h = limit_ ? at::zeros_like(speed_) : speed_ * at.h;
    const at::Tensor t = at::where(held_.isnan(), at.t, held_);
    return {per_cell(speed_, x) * field_.evaluate(x, {t, h, 0, at.stage}, own_).dx, {}};
  }

 private:
  const VectorField& field_;
  at::Tensor speed_, held_;
  bool limit_;
  Control own_;
};

}  // namespace

std::int64_t continuous_steps(const ModelOptions& o) {
  if (o.flow.replaced() > 0) return is_flow(o) ? o.solver.steps : 0;
  const bool one = o.shared() && !o.facts().skips && o.residual.kind != ScaleKind::LearnedPerLayer;
  return one ? o.depth_steps() : 0;
}

ContinuousModel::ContinuousModel(const Model& model, const Arena& arena, const ProbeSet& set)
    : set_(set),
      context_{.execution = Execution{.mode = ExecutionMode::Dense}},
      wide_(model, arena),
      model_(wide_.model()) {
  const at::NoGradGuard no_grad;
  const ModelOptions& o = model_.options();
  if (continuous_steps(o) == 0) throw Error("no part of this depth discretises a field");
  segments_ = model_.segments(context_);
  const auto wide = at::TensorOptions(at::kDouble).device(o.device);
  at::Tensor speed = at::full({o.cells}, 1.0, wide), held = at::full({o.cells}, kNaN, wide);
  shift_ = at::full({o.cells}, 0.0, wide);
  const VectorField* field = nullptr;
  if (is_flow(o)) {
    at_ = o.flow.first > 0 ? 1 : 0;
    field = segments_.at(at_).field.get();
  } else {
    inner_ = std::make_unique<TimedField>(
        o, context_, [this](const at::Tensor& t) { return block_between(model_.family(), t); });
    field = inner_.get();
    const DepthGrid grid = model_.family().grid(context_);
    speed = grid.h.select(1, 0).to(at::kDouble) * static_cast<double>(grid.steps());
    std::vector<double> right, times;
    for (std::size_t e = 0; e < static_cast<std::size_t>(o.cells); ++e) {
      right.push_back(o.time.nodes[e] == Nodes::Right ? 1 : 0);
      times.push_back(o.timed() && o.time.constant[e] ? o.time.value[e] : kNaN);
    }
    shift_ = at::tensor(right, at::kDouble).to(o.device);
    held = at::tensor(times, at::kDouble).to(o.device);
  }
  euler_ = std::make_unique<Scaled>(*field, speed, held, false, model_.control({}));
  limit_ = std::make_unique<Scaled>(*field, speed, held, true, model_.control({}));
}

std::int64_t ContinuousModel::steps() const {
  return continuous_steps(model_.options());
}

at::Tensor ContinuousModel::advance(const at::Tensor& x, std::size_t from, std::size_t to) const {
  at::Tensor state = x;
  for (std::size_t i = from; i < to; ++i) {
    const DepthSegment& segment = segments_[i];
    state = segment.method->solve(*segment.field, segment.grid, state, model_.control({}));
  }
  return state;
}

at::Tensor ContinuousModel::start(std::int64_t first, std::int64_t count) const {
  const at::NoGradGuard no_grad;
  const ModelOptions& o = model_.options();
  const at::Tensor tokens =
      set_.windows.narrow(0, first, count).narrow(1, 0, set_.tokens()).to(o.device);
  return advance(model_.embed(tokens.unsqueeze(0).expand({o.cells, -1, -1})), 0, at_);
}

at::Tensor ContinuousModel::own(const at::Tensor& x) const {
  const at::NoGradGuard no_grad;
  return advance(x, at_, at_ + 1);
}

at::Tensor ContinuousModel::euler(const at::Tensor& x, std::int64_t steps) const {
  const at::NoGradGuard no_grad;
  DepthGrid grid = flow_grid(x.size(0), steps, x.options());
  const at::Tensor index = at::arange(steps, x.options()).unsqueeze(0) + shift_.unsqueeze(1);
  grid.t = index / static_cast<double>(steps);
  return DepthIntegrator(kEuler).solve(*euler_, grid, x, {});
}

at::Tensor ContinuousModel::finish(const at::Tensor& x) const {
  const at::NoGradGuard no_grad;
  return advance(x, at_ + 1, segments_.size());
}

at::Tensor ContinuousModel::logits(const at::Tensor& x) const {
  const at::NoGradGuard no_grad;
  return model_.readout(x);
}

}  // namespace depthgrid
