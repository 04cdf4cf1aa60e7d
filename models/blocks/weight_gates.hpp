#pragma once

#include <array>
#include <vector>

#include "core/train/optimizer/parameter_layout.hpp"
#include "models/blocks/block_weights.hpp"
#include "models/blocks/depth_mlp.hpp"
#include "models/options/model_options.hpp"

namespace depthgrid {

/// Gates of the six weight types at every node of a grid.
///
/// A gate is applied to the weight, not to the product: at all relevant sizes a weight has fewer
/// entries than a batch has activations, and one path serves rows, columns and elements.
class WeightGates {
 public:
  /// The gate of each matrix at one step, broadcastable against (E, out, in).
  struct AtNode {
    at::Tensor qkv, out, up, down;  // undefined = not gated
  };

  WeightGates(ParameterSource& source, const ModelOptions& o, const std::string& name);

  /// @param features  (E, L, F). @return L entries.
  std::vector<AtNode> evaluate(const ModelOptions& o, const at::Tensor& features) const;

 private:
  at::Tensor gate(const ModelOptions& o, WeightType type, const at::Tensor& features) const;

  std::array<DepthMlp, kWeightTypes> networks_;
};

/// `base` times the gates of one node; norms and biases unchanged.
BlockWeights gated(const BlockWeights& base, const WeightGates::AtNode& gates);

}  // namespace depthgrid
