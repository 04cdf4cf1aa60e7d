#pragma once

#include <array>
#include <vector>

#include <ATen/core/Tensor.h>

#include "core/probe/gate_values.hpp"
#include "core/train/optimizer/parameter_layout.hpp"
#include "models/blocks/block_weights.hpp"
#include "models/blocks/depth_mlp.hpp"
#include "models/options/model_options.hpp"

namespace depthgrid {

/// A learned factor of each base matrix, initially 1: W_eff(t) = (s W) ⊙ gate(t). It lets training
/// choose the scale of the shared weights (`model.init.gain: learned`).
///
/// One parameter block.gain: q, k, v, out and, with a feed-forward sublayer, up and down.
/// Source: first study, section 9 ("learnable base weight initialization").
class BaseGains {
 public:
  BaseGains() = default;
  BaseGains(ParameterSource& source, const ModelOptions& o);

  /// Weights (E, out, in) times their factors; norms and biases unchanged. Once per pass.
  BlockWeights scaled(const BlockWeights& base) const;

  /// The factors themselves, for diagnostics; empty if there are none. @param steps  L.
  std::vector<DepthFactor> values(std::int64_t steps) const;

 private:
  at::Tensor gain_;  // (E, 4 or 6), or undefined: all are 1
};

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

  /// The factors of each gated type of weight, for diagnostics; types that share a network have the
  /// same. @param features  (E, n, F). @return empty for constant gates.
  std::vector<GateValues> values(const ModelOptions& o, const at::Tensor& features) const;

 private:
  at::Tensor gate(const ModelOptions& o, WeightType type, const at::Tensor& features) const;

  std::array<DepthMlp, kWeightTypes> networks_;
};

/// `base` times the gates of one node; norms and biases unchanged.
BlockWeights gated(const BlockWeights& base, const WeightGates::AtNode& gates);

}  // namespace depthgrid
