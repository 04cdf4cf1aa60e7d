#pragma once

#include <ATen/core/Tensor.h>

#include "core/train/objective.hpp"

namespace depthgrid {

/// A model of the next token, as training and evaluation see it; models/ implements it. Its losses
/// are those of the next tokens, and what the model adds to them in training.
class LanguageModel : public Objective {
 public:
  /// Per-token results in evaluation mode, without gradients.
  struct Scores {
    at::Tensor loss;     // (E, B, T) float32, nats
    at::Tensor correct;  // (E, B, T) bool: the most probable token is the target
  };

  /// @param batch  its rows key draws where a model makes any in evaluation.
  virtual Scores score(const Batch& batch) = 0;
};

}  // namespace depthgrid
