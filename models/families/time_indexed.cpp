#include "models/families/time_indexed.hpp"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/full.h>
#include <ATen/ops/stack.h>

#include "models/blocks/block_field.hpp"
#include "models/blocks/block_parameters.hpp"
#include "models/blocks/residual_scale.hpp"
#include "models/blocks/ssm_mixer.hpp"
#include "models/blocks/temporal_norm.hpp"
#include "models/blocks/time_features.hpp"
#include "models/blocks/weight_gates.hpp"
#include "models/families/solved_depth.hpp"

namespace depthgrid {
namespace {

/// The shared block at each node of one pass; gates, generated norms and state-space systems were
/// computed together.
class GatedField final : public LayerField {
 public:
  /// @param systems  the second sublayer at each node; empty: feed-forward.
  GatedField(const ModelOptions& o, const ForwardContext& c, std::vector<BlockWeights> bases,
             std::vector<WeightGates::AtNode> gates, std::vector<SsmSystem> systems)
      : LayerField(o, c, std::move(bases)),
        gates_(std::move(gates)),
        systems_(std::move(systems)) {}

 protected:
  BlockWeights weights(const DepthPoint& at) const override {
    return gated(LayerField::weights(at), gates_.at(static_cast<std::size_t>(at.step)));
  }

  bool feeds_forward() const override { return systems_.empty(); }

  at::Tensor second_sublayer(const BlockWeights& w, const at::Tensor& normed,
                             const DepthPoint& at) const override {
    if (feeds_forward()) return LayerField::second_sublayer(w, normed, at);
    const SsmSystem& system = systems_.at(static_cast<std::size_t>(at.step));
    std::vector<at::Tensor>* const record = context().state_space;
    return mix(system, normed, nullptr, record ? &record->emplace_back() : nullptr);
  }

 private:
  std::vector<WeightGates::AtNode> gates_;
  std::vector<SsmSystem> systems_;
};

class TimeIndexed final : public Family {
 public:
  TimeIndexed(ParameterSource& source, const ModelOptions& o)
      : options_(o),
        scale_(source, o),
        base_(block_parameters(source, o, "block")),
        gains_(source, o),
        gates_(source, o, "modulation") {
    if (o.norm == NormChoice::TemporalLayer) {
      norm1_ = TemporalNorm(source, o, "block.norm1");
      norm2_ = TemporalNorm(source, o, "block.norm2");
    }
    if (o.mixer == Mixer::Ssm) ssm_ = SsmWeights(source, o);
  }

  DepthGrid grid(const ForwardContext& context) const override {
    return scale_.grid(options_, context);
  }

  std::vector<DepthSegment> segments(const ForwardContext& context) const override {
    DepthGrid nodes = grid(context);
    if (options_.solved()) return solved_run(options_, context, *this, std::move(nodes));
    const at::Tensor features = time_features(options_.time, nodes.t);
    FieldPtr field = std::make_unique<GatedField>(
        options_, context, bases(features), gates_.evaluate(options_, features), systems(features));
    return euler_run(std::move(nodes), std::move(field));
  }

  DecodeBlock block_at(const at::Tensor& t) const override { return block_between(*this, t); }

  std::vector<DecodeBlock> blocks(const DepthGrid& grid) const override {
    const at::Tensor features = time_features(options_.time, grid.t);
    const std::vector<BlockWeights> base = bases(features);
    const std::vector<WeightGates::AtNode> gates = gates_.evaluate(options_, features);
    std::vector<DecodeBlock> out;
    for (std::size_t i = 0; i < base.size(); ++i) out.push_back({gated(base[i], gates[i])});
    std::vector<SsmSystem> each = systems(features);
    for (std::size_t i = 0; i < each.size(); ++i) out[i].ssm = std::move(each[i]);
    return out;
  }

  at::Tensor readout_features() const override {
    const at::Tensor end = at::full({options_.cells, 1}, 1.0, base_.qkv.weight.device());
    return time_features(options_.time, end);
  }

  at::Tensor gate_times() const override {
    return options_.modulation.gate == GateKind::Constant ? at::Tensor() : grid({}).t;
  }

  std::vector<GateValues> gates(const at::Tensor& tau) const override {
    const at::Tensor features = time_features(options_.time, tau);
    std::vector<GateValues> out = gates_.values(options_, features);
    if (options_.mixer == Mixer::Ssm) {
      std::ranges::move(ssm_.gate_values(options_, features), std::back_inserter(out));
    }
    return out;
  }

  std::vector<DepthFactor> depth_factors() const override {
    const at::Tensor features = time_features(options_.time, grid({}).t);
    std::vector<DepthFactor> out = gains_.values(features.size(1));
    const auto add = [&](std::vector<DepthFactor> more) {
      std::ranges::move(more, std::back_inserter(out));
    };
    if (options_.norm == NormChoice::TemporalLayer) add(norm_factors(bases(features)));
    if (options_.mixer == Mixer::Ssm) add(ssm_.gates(options_, features));
    return out;
  }

  at::Tensor transitions() const override {
    const at::NoGradGuard no_grad;
    std::vector<at::Tensor> each;
    for (SsmSystem& s : systems(time_features(options_.time, grid({}).t))) {
      each.push_back(std::move(s.transition));
    }
    return each.empty() ? at::Tensor() : at::stack(each, 1);
  }

  at::Tensor state_space_steps() const override {
    if (options_.mixer == Mixer::Mlp) return {};
    const at::NoGradGuard no_grad;
    const at::Tensor features = time_features(options_.time, grid({}).t);
    return ssm_.evaluate(options_, features, base_.qkv.weight.scalar_type()).delta;
  }

 private:
  /// The block at each node, without gates.
  std::vector<BlockWeights> bases(const at::Tensor& features) const {
    std::vector<BlockWeights> nodes(static_cast<std::size_t>(features.size(1)),
                                    gains_.scaled(base_));
    if (options_.norm == NormChoice::TemporalLayer) set_norms(norm1_, norm2_, features, nodes);
    return nodes;
  }

  /// The state-space layer at each node; empty if there is none.
  std::vector<SsmSystem> systems(const at::Tensor& features) const {
    if (options_.mixer == Mixer::Mlp) return {};
    return discretise(options_.ssm.discretisation,
                      ssm_.evaluate(options_, features, base_.qkv.weight.scalar_type()));
  }

  const ModelOptions& options_;
  ResidualScale scale_;
  BlockWeights base_;
  BaseGains gains_;
  WeightGates gates_;
  TemporalNorm norm1_;
  TemporalNorm norm2_;
  SsmWeights ssm_;
};

}  // namespace

std::unique_ptr<Family> make_time_indexed(ParameterSource& source, const ModelOptions& o) {
  return std::make_unique<TimeIndexed>(source, o);
}

}  // namespace depthgrid
