#pragma once

#include <ATen/core/Tensor.h>

#include "core/train/optimizer/parameter_layout.hpp"
#include "models/blocks/block_weights.hpp"
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

 private:
  at::Tensor gain_;  // (E, 4 or 6), or undefined: all are 1
};

}  // namespace depthgrid
