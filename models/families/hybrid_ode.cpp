#include "models/families/hybrid_ode.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/ones_like.h>

#include "core/base/nan.hpp"
#include "models/blocks/block_field.hpp"
#include "models/blocks/block_parameters.hpp"
#include "models/blocks/flow.hpp"
#include "models/blocks/residual_scale.hpp"

namespace depthgrid {
namespace {

/// Options of the residual scale: only the remaining layers.
ModelOptions remaining_layers(ModelOptions o) {
  o.layers -= o.flow.replaced();
  return o;
}

class HybridOde final : public Family {
 public:
  HybridOde(ParameterSource& source, const ModelOptions& o)
      : options_(o),
        remaining_(remaining_layers(o)),
        scale_(source, remaining_),
        flow_grid_(
            flow_grid(o.cells, o.solver.steps, at::TensorOptions(at::kFloat).device(o.device))) {
    const FlowOptions& flow = o.flow;
    const bool tied = flow.field == FieldKind::Block;
    flow_grid_.first = flow.first;
    if (tied) flow_grid_.h = at::ones_like(flow_grid_.t);
    blocks_ = block_range(source, 0, flow.first);
    BlockWeights block;
    if (tied) {
      GroupedSource field(source, ParameterGroup::Field);
      block = block_parameters(field, o, "flow.block");
    } else {
      flow_.emplace(source, o);
    }
    blocks_.insert(blocks_.end(), static_cast<std::size_t>(o.solver.steps), block);
    const std::vector<BlockWeights> after = block_range(source, flow.last, o.layers);
    blocks_.insert(blocks_.end(), after.begin(), after.end());
  }

  /// Times of the whole depth: layer i ends at (i + 1)/L, the flow runs from a/L to b/L.
  DepthGrid grid(const ForwardContext& context) const override {
    const FlowOptions& flow = options_.flow;
    const auto layers = static_cast<double>(options_.layers);
    const DepthGrid rest = scale_.grid(remaining_, context);
    const std::int64_t after = rest.steps() - flow.first;
    const at::Tensor nodes = rest.t * (static_cast<double>(rest.steps()) / layers);
    const at::Tensor inside =
        (flow_grid_.t * static_cast<double>(flow.replaced()) + static_cast<double>(flow.first)) /
        layers;
    const at::Tensor late =
        nodes.narrow(1, flow.first, after) + static_cast<double>(flow.replaced()) / layers;
    DepthGrid whole;
    whole.t = at::cat({nodes.narrow(1, 0, flow.first), inside, late}, 1);
    whole.h = at::cat(
        {rest.h.narrow(1, 0, flow.first), flow_grid_.h, rest.h.narrow(1, flow.first, after)}, 1);
    return whole;
  }

  std::vector<DepthSegment> segments(const ForwardContext& context) const override {
    const auto layers = [&] { return std::make_unique<LayerField>(options_, context, blocks_); };
    if (!flow_) return euler_run(grid(context), layers());
    const FlowOptions& flow = options_.flow;
    const DepthGrid rest = scale_.grid(remaining_, context);
    const std::int64_t after = rest.steps() - flow.first;
    const auto euler = [&](DepthGrid piece) {
      return fixed_run(stepper("euler"), std::move(piece), layers());
    };
    std::vector<DepthSegment> out;
    if (flow.first > 0) out.push_back(euler(rest.piece(0, flow.first, 0)));
    out.push_back(fixed_run(*options_.solver.method, flow_grid_, flow_->field(context)));
    out.back().flow = true;
    if (after > 0) {
      const std::int64_t step = flow.first + options_.solver.steps;
      out.push_back(euler(rest.piece(flow.first, after, step)));
    }
    return out;
  }

  at::Tensor gate_times() const override {
    if (!flow_ || !flow_->has_gates()) return {};
    const DepthGrid whole = grid({});
    at::Tensor times = at::full_like(whole.t, kNaN);
    times.narrow(1, options_.flow.first, options_.solver.steps).copy_(flow_grid_.t);
    return times;
  }

  std::vector<GateValues> gates(const at::Tensor& tau) const override {
    return flow_ ? flow_->gates(tau) : std::vector<GateValues>();
  }

  std::vector<DecodeBlock> blocks(const DepthGrid&) const override {
    std::vector<DecodeBlock> out;
    for (const BlockWeights& block : blocks_) out.push_back({block});
    for (std::int64_t j = 0; flow_ && j < options_.solver.steps; ++j) {
      out[static_cast<std::size_t>(options_.flow.first + j)] =
          flow_->decode_block(flow_grid_.t.select(1, j));
    }
    return out;
  }

  DecodeBlock block_at(const at::Tensor& t) const override {
    return flow_ ? flow_->decode_block(t) : Family::block_at(t);
  }

  std::vector<BlockWeights> step_weights() const override {
    std::vector<BlockWeights> out = blocks_;
    for (std::int64_t j = 0; flow_ && j < options_.solver.steps; ++j) {
      BlockWeights& here = out[static_cast<std::size_t>(options_.flow.first + j)];
      here = flow_->block(flow_grid_.t.select(1, j));
      // Of a field that reads the control signal too, what acts on the state.
      here.up.weight = here.up.weight.narrow(2, 0, options_.width);
    }
    return out;
  }

  std::vector<DeadParameter> dead_parameters() const override {
    const FlowOptions& flow = options_.flow;
    std::vector<DeadParameter> out;
    if (flow.field == FieldKind::Block) return out;
    if (flow.time_embedding && options_.solver.evaluations() == 1) {
      out.push_back({"flow.time.w1", "the only evaluation is at time 0"});
    }
    return out;
  }

 private:
  std::vector<BlockWeights> block_range(ParameterSource& source, std::int64_t from,
                                        std::int64_t to) const {
    std::vector<BlockWeights> out;
    for (std::int64_t i = from; i < to; ++i) {
      out.push_back(block_parameters(source, options_, "layers." + std::to_string(i)));
    }
    return out;
  }

  const ModelOptions& options_;
  ModelOptions remaining_;
  ResidualScale scale_;
  DepthGrid flow_grid_;               // τ and h of the flow
  std::vector<BlockWeights> blocks_;  // one per step; empty for a flow's steps
  std::optional<Flow> flow_;          // none: one block in its place
};

}  // namespace

std::unique_ptr<Family> make_hybrid_ode(ParameterSource& source, const ModelOptions& o) {
  return std::make_unique<HybridOde>(source, o);
}

}  // namespace depthgrid
