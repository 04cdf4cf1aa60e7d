#pragma once

#include <string>

#include <ATen/core/Tensor.h>

#include "core/train/optimizer/parameter_layout.hpp"
#include "models/options/model_options.hpp"

namespace depthgrid {

/// Decides before a block runs whether a token needs it: one linear map of its state and that of
/// the previous token, [x_t ‖ x_(t-1)], with zeros before the first token.
/// Source: third study, section 3.4.2.
class CausalRouter {
 public:
  /// Parameters NAME.weight (1, 2C) and, if configured, NAME.bias (1).
  CausalRouter(ParameterSource& source, const ModelOptions& o, const std::string& name);

  /// @param x       (E, B, T, C) states before the block.
  /// @param memory  for a text in pieces: (E, B, 1) contribution of the previous token, executed or
  ///                not, to the first token's logit; undefined at the start. Updated with the last
  ///                token's contribution to the next.
  /// @return        (E, B, T) logits.
  at::Tensor logits(const ModelOptions& o, const at::Tensor& x, at::Tensor* memory = nullptr) const;

 private:
  at::Tensor weight_;  // (E, 1, 2C)
  at::Tensor bias_;    // (E, 1), or undefined
};

/// Sum over tokens of the binary cross-entropy of logits against a mask.
/// @param logits  (E, B, T), with its graph. @param target (E, B, T) bool. @return (E) nats
at::Tensor routing_loss(const at::Tensor& logits, const at::Tensor& target);

/// Sum over rows and tokens, in float64 and in order. x (E, B, T) -> (E) in the dtype of x
at::Tensor token_sum(const at::Tensor& x);

}  // namespace depthgrid
