#pragma once

#include <ATen/core/Tensor.h>

#include "core/base/error.hpp"
#include "core/train/objective.hpp"

namespace depthgrid {

/// A next-token model, as training and evaluation see it; models/ implements it. Its losses are
/// those of the next tokens plus the terms that the model adds in training.
class LanguageModel : public Objective {
 public:
  /// Per-token results in evaluation mode, without gradients.
  struct Scores {
    at::Tensor loss;     // (E, B, T) float32, nats
    at::Tensor correct;  // (E, B, T) bool: the most probable token is the target
  };

  /// @param batch  its rows key the random draws that some models make in evaluation.
  virtual Scores score(const Batch& batch) = 0;

  /// -log of the probability that the model gives to the set of Batch::answers, in evaluation mode
  /// and without gradients: (E, B) float32, nats. @throws Error from models that are not asked.
  virtual at::Tensor answer_losses(const Batch& /*batch*/) {
    throw Error("this model does not compute the probability of answers");
  }
};

}  // namespace depthgrid
