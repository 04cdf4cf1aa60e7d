#pragma once

#include "models/blocks/block_field.hpp"
#include "models/family.hpp"

namespace depthgrid {

/// The block that a family of one set of parameters has at any depth-time, as a field: weights,
/// norms and state-space systems are made anew for each evaluation, also between the nodes of the
/// family's grid.
class TimedField final : public BlockField {
 public:
  /// @param family  of shared parameters: its blocks() take any nodes. All must outlive this.
  TimedField(const Family& family, const ModelOptions& o, const ForwardContext& context)
      : BlockField(o, context), family_(family) {}

 protected:
  BlockWeights weights(const DepthPoint& at) const override { return block(at).weights; }
  bool feeds_forward() const override { return options().mixer == Mixer::Mlp; }
  at::Tensor second_sublayer(const BlockWeights& w, const at::Tensor& normed,
                             const DepthPoint& at) const override;

 private:
  DecodeBlock block(const DepthPoint& at) const;

  const Family& family_;
};

}  // namespace depthgrid
