#include "models/families/time_indexed.hpp"

#include <utility>
#include <vector>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/full.h>
#include <ATen/ops/stack.h>

#include "models/blocks/base_gains.hpp"
#include "models/blocks/block_field.hpp"
#include "models/blocks/block_parameters.hpp"
#include "models/blocks/residual_scale.hpp"
#include "models/blocks/ssm_mixer.hpp"
#include "models/blocks/temporal_norm.hpp"
#include "models/blocks/time_features.hpp"
#include "models/blocks/weight_gates.hpp"

namespace depthgrid {
namespace {

/// The shared block at each node of one pass; gates and generated norms were computed together.
class GatedField : public BlockField {
 public:
  GatedField(const ModelOptions& o, const ForwardContext& c, BlockWeights base,
             std::vector<WeightGates::AtNode> gates, std::vector<NormWeights> norm1,
             std::vector<NormWeights> norm2)
      : BlockField(o, c),
        base_(std::move(base)),
        gates_(std::move(gates)),
        norm1_(std::move(norm1)),
        norm2_(std::move(norm2)) {}

 protected:
  BlockWeights weights(const DepthPoint& at) const override {
    const auto i = static_cast<std::size_t>(at.step);
    BlockWeights w = gated(base_, gates_.at(i));
    if (!norm1_.empty()) {
      w.norm1 = norm1_[i];
      w.norm2 = norm2_[i];
    }
    return w;
  }

 private:
  BlockWeights base_;
  std::vector<WeightGates::AtNode> gates_;
  std::vector<NormWeights> norm1_;
  std::vector<NormWeights> norm2_;
};

/// The same with a state-space layer as the second sublayer.
class SsmField final : public GatedField {
 public:
  SsmField(GatedField block, std::vector<SsmSystem> systems)
      : GatedField(std::move(block)), systems_(std::move(systems)) {}

 protected:
  bool feeds_forward() const override { return false; }

  at::Tensor second_sublayer(const BlockWeights&, const at::Tensor& normed,
                             const DepthPoint& at) const override {
    return mix(systems_.at(static_cast<std::size_t>(at.step)), normed);
  }

 private:
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
    const at::Tensor features = time_features(options_.time, nodes.t);
    std::vector<NormWeights> first, second;
    if (options_.norm == NormChoice::TemporalLayer) {
      first = norm1_.evaluate(features);
      second = norm2_.evaluate(features);
    }
    GatedField block(options_, context, gains_.scaled(base_), gates_.evaluate(options_, features),
                     std::move(first), std::move(second));
    FieldPtr field;
    if (options_.mixer == Mixer::Mlp) {
      field = std::make_unique<GatedField>(std::move(block));
    } else {
      field = std::make_unique<SsmField>(std::move(block), systems(features));
    }
    return euler_run(std::move(nodes), std::move(field));
  }

  std::vector<DecodeBlock> blocks(const DepthGrid& grid) const override {
    const at::Tensor features = time_features(options_.time, grid.t);
    const BlockWeights base = gains_.scaled(base_);
    std::vector<DecodeBlock> out;
    for (const WeightGates::AtNode& gates : gates_.evaluate(options_, features)) {
      out.push_back({gated(base, gates)});
    }
    if (options_.norm == NormChoice::TemporalLayer) {
      const std::vector<NormWeights> first = norm1_.evaluate(features);
      const std::vector<NormWeights> second = norm2_.evaluate(features);
      for (std::size_t i = 0; i < out.size(); ++i) {
        out[i].weights.norm1 = first[i];
        out[i].weights.norm2 = second[i];
      }
    }
    if (options_.mixer == Mixer::Mlp) return out;
    std::vector<SsmSystem> each = systems(features);
    for (std::size_t i = 0; i < out.size(); ++i) out[i].ssm = std::move(each[i]);
    return out;
  }

  at::Tensor readout_features() const override {
    const at::Tensor end = at::full({options_.cells, 1}, 1.0, base_.qkv.weight.device());
    return time_features(options_.time, end);
  }

  at::Tensor transitions() const override {
    if (options_.mixer == Mixer::Mlp) return {};
    const at::NoGradGuard no_grad;
    std::vector<at::Tensor> each;
    for (SsmSystem& s : systems(time_features(options_.time, grid({}).t))) {
      each.push_back(std::move(s.transition));
    }
    return at::stack(each, 1);
  }

 private:
  std::vector<SsmSystem> systems(const at::Tensor& features) const {
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
