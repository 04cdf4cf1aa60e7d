#pragma once

#include <string>

#include <ATen/core/Tensor.h>

#include "core/train/optimizer/parameter_layout.hpp"
#include "models/blocks/block_weights.hpp"
#include "models/options/model_options.hpp"

namespace depthgrid {

/// Predicts a token's residual from the final state of the previous token: a bottleneck
/// (SiLU(x W1) ⊙ x W3) W2 without biases after a norm without parameters, so that the prediction
/// for a sequence's first token is exactly zero.
/// Source: third study, section 3.2.
class TransitionNetwork {
 public:
  /// Parameters NAME.up.weight (2 hidden, C), W1 then W3, and NAME.down.weight (C, hidden). The
  /// first starts Xavier-uniform, the second as configured: after a norm, Xavier predictions are an
  /// order of magnitude larger than the residuals of an untrained model.
  TransitionNetwork(ParameterSource& source, const ModelOptions& o, const std::string& name);

  /// @param x  (E, B, T, C) states after the block; token t's prediction reads that of t - 1.
  /// @return   (E, B, T, C) in the dtype of x.
  at::Tensor predict(const ModelOptions& o, const at::Tensor& x) const;

 private:
  AffineMap up_;
  AffineMap down_;
};

}  // namespace depthgrid
