#pragma once

#include <string_view>
#include <vector>

#include <ATen/core/Tensor.h>

#include "core/train/batch.hpp"

namespace depthgrid {

/// What a training step minimises for each cell. The Trainer knows nothing else about what it
/// trains; the loss of a language model is the first objective.
class Objective {
 public:
  virtual ~Objective() = default;

  /// Sums over the tokens of these rows; the trainer divides them by the tokens of the global
  /// batch.
  struct Losses {
    at::Tensor total;               // (E), with its autograd graph
    at::Tensor loss;                // (E) nats, the part that is reported as the training loss
    std::vector<at::Tensor> parts;  // (E) each, before their weights, in the order of loss_parts()
  };

  /// In training mode. A cell's losses do not depend on its neighbours.
  virtual Losses losses(const Batch& batch) = 0;

  /// Names of Losses::parts: NAME is recorded as train_loss_NAME.
  virtual std::vector<std::string_view> loss_parts() const { return {}; }
};

}  // namespace depthgrid
