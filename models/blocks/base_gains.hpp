#pragma once

#include <ATen/core/Tensor.h>

#include "core/train/optimizer/parameter_layout.hpp"
#include "models/blocks/block_weights.hpp"
#include "models/options/model_options.hpp"

namespace depthgrid {

/// A learned factor of each base matrix, from 1 on: W_eff(t) = (s W) ⊙ gate(t). It lets training
/// choose how large the shared weights start out to be (`model.init.gain: learned`).
///
/// One parameter block.gain: q, k, v, out and, with a feed-forward sublayer, up and down.
/// Source: first study, section 9 ("learnable base weight initialization").
class BaseGains {
 public:
  BaseGains() = default;
  BaseGains(ParameterSource& source, const ModelOptions& o);

  /// Weights (E, out, in) under their factors; norms and biases as they are. Once a pass, whatever
  /// the depth.
  BlockWeights scaled(const BlockWeights& base) const;

 private:
  at::Tensor gain_;  // (E, 4 or 6), or undefined: all are 1
};

}  // namespace depthgrid
