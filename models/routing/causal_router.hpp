#pragma once

#include <string>

#include <ATen/core/Tensor.h>

#include "core/train/optimizer/parameter_layout.hpp"
#include "models/options/model_options.hpp"

namespace depthgrid {

/// Says before a block runs whether a token needs it: one linear map of the token's state and of
/// the state of the token before, [x_t ‖ x_(t-1)], with zeros before the first token.
/// Source: third study, section 3.4.2.
class CausalRouter {
 public:
  /// Parameters NAME.weight (1, 2C) and, if asked for, NAME.bias (1).
  CausalRouter(ParameterSource& source, const ModelOptions& o, const std::string& name);

  /// @param x       (E, B, T, C) states in front of the block.
  /// @param memory  of a text that comes in pieces: what the token in front of the first one,
  ///                executed or not, says of it, (E, B, 1); undefined at the start. Gets what the
  ///                last token says of the next one.
  /// @return        (E, B, T) logits.
  at::Tensor logits(const ModelOptions& o, const at::Tensor& x, at::Tensor* memory = nullptr) const;

 private:
  at::Tensor weight_;  // (E, 1, 2C)
  at::Tensor bias_;    // (E, 1), or undefined
};

/// Sum over tokens of the binary cross-entropy of logits against a mask.
/// @param logits  (E, B, T), with its graph. @param target (E, B, T) bool. @return (E) nats
at::Tensor routing_loss(const at::Tensor& logits, const at::Tensor& target);

/// Sum over rows and tokens, in float64 and in their order. x (E, B, T) -> (E) of the dtype of x
at::Tensor token_sum(const at::Tensor& x);

}  // namespace depthgrid
