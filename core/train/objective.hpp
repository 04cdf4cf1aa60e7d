#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <ATen/core/Tensor.h>

#include "core/depth/vector_field.hpp"

namespace depthgrid {

/// Rows of text on which a model is trained or scored.
struct Batch {
  /// (E, B, T + 1) int64: inputs and, one further, targets; (1, B, T + 1): the same for all cells.
  at::Tensor windows;
  std::int64_t step = 0;       // training step, from 1: keys the draws
  std::int64_t first_row = 0;  // global row of the first row: keys the draws
  Control control = {};        // over the T inputs; undefined: nothing steers them
};

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
