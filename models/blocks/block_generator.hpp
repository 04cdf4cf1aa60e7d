#pragma once

#include <string>
#include <vector>

#include "core/train/optimizer/parameter_layout.hpp"
#include "models/blocks/block_weights.hpp"
#include "models/blocks/temporal_norm.hpp"
#include "models/blocks/weight_generator.hpp"
#include "models/options/model_options.hpp"

namespace depthgrid {

/// A transformer block whose six weights are generated from depth-time. Norms are shared by all
/// depths unless temporal.
class BlockGenerator {
 public:
  /// One WeightGenerator each under NAME.attn.q, NAME.attn.k, NAME.attn.v (or NAME.attn.qkv if all
  /// three share one), NAME.attn.out, NAME.mlp.up and NAME.mlp.down; norms under NAME.norm1 and
  /// NAME.norm2.
  BlockGenerator(ParameterSource& source, const ModelOptions& o, const std::string& name);

  /// @param features  (E, L, F) of time_features(). @return the block at each of the L nodes.
  std::vector<BlockWeights> evaluate(const at::Tensor& features) const;

 private:
  std::vector<WeightGenerator> qkv_;  // one, or those of q, k and v
  WeightGenerator out_;
  WeightGenerator up_;
  WeightGenerator down_;
  NormWeights fixed1_;
  NormWeights fixed2_;
  bool temporal_;
  TemporalNorm norm1_;
  TemporalNorm norm2_;
};

}  // namespace depthgrid
