#pragma once

#include <string>
#include <vector>

#include "core/probe/gate_values.hpp"
#include "core/train/optimizer/parameter_layout.hpp"
#include "models/blocks/block_weights.hpp"
#include "models/blocks/depth_mlp.hpp"
#include "models/options/model_options.hpp"

namespace depthgrid {

/// Layer norm whose scale and shift are generated from depth-time:
/// m = W2 silu(W1 e(t) + b1) + b2, scale = 1 + S m, shift = B m, where S and B have no bias.
/// Source: first study's published program.
class TemporalNorm {
 public:
  TemporalNorm() = default;

  /// Parameters NAME.time.{w1,b1,w2,b2}, NAME.scale (C, hidden), NAME.shift (C, hidden).
  TemporalNorm(ParameterSource& source, const ModelOptions& o, const std::string& name);

  /// @param features  (E, L, F). @return scale and shift (E, C) at each of the L nodes.
  std::vector<NormWeights> evaluate(const at::Tensor& features) const;

 private:
  DepthMlp time_;
  AffineMap scale_;
  AffineMap shift_;
};

/// Replaces the norms of the block at each node by generated ones. @param features  (E, L, F).
void set_norms(const TemporalNorm& norm1, const TemporalNorm& norm2, const at::Tensor& features,
               std::vector<BlockWeights>& nodes);

/// Scales and shifts of generated norms at the nodes, for diagnostics.
std::vector<DepthFactor> norm_factors(const std::vector<BlockWeights>& nodes);

}  // namespace depthgrid
