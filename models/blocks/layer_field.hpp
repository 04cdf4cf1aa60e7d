#pragma once

#include <vector>

#include "models/blocks/block_field.hpp"

namespace depthgrid {

/// Blocks indexed by the step: the ordinary transformer under Euler. Blocks that share parameters
/// hold the same tensors.
class LayerField final : public BlockField {
 public:
  /// @param layers  one per depth step; must outlive the field.
  LayerField(const ModelOptions& o, const ForwardContext& c,
             const std::vector<BlockWeights>& layers)
      : BlockField(o, c), layers_(layers) {}

 protected:
  BlockWeights weights(const DepthPoint& at) const override {
    return layers_.at(static_cast<std::size_t>(at.step));
  }

 private:
  const std::vector<BlockWeights>& layers_;
};

}  // namespace depthgrid
