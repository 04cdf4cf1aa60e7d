#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include <ATen/core/Tensor.h>

#include "core/depth/vector_field.hpp"

namespace depthgrid {

/// What is asked of rows of which one prediction counts: the probability of a set of tokens behind
/// one place.
struct Answers {
  at::Tensor place;   // (E, B) or (1, B) int64: input behind which the prediction counts
  at::Tensor wanted;  // (E, B, S) or (1, B, S) int64: the set's tokens; -1 fills up shorter sets
};

/// What the first R rows of a batch are used for besides their next tokens: to infer the labels of
/// their sentences from each other. R = 0: nothing.
struct Contrast {
  at::Tensor sentence;  // (E, R, T) int64: of each target, the number of its sentence in the row
  at::Tensor label;     // (E, R, T) float, by that number: 1, 0, or -1 without a label of this axis
  at::Tensor axis;      // (E, R) int64: the axis of the signal that is asked about
  at::Tensor wanted;    // (E, R) float: a drawn u on that axis, 1 or -1
};

/// Rows of text on which a model is trained or scored.
struct Batch {
  /// (E, B, T + 1) int64: inputs and, one further, targets; (1, B, T + 1): the same for all cells.
  at::Tensor windows;
  std::int64_t step = 0;       // training step, from 1: keys the draws
  std::int64_t first_row = 0;  // global row of the first row: keys the draws
  Control control = {};        // over the T inputs; undefined: nothing steers them
  Answers answers = {};        // undefined: every next token counts
  Contrast contrast = {};      // undefined: none
  bool bypass = false;         // a flow in place of layers is left out

  /// All of the above, also those that are undefined.
  std::array<at::Tensor*, 8> tensors() {
    return {&windows,           &control.u,      &answers.place, &answers.wanted,
            &contrast.sentence, &contrast.label, &contrast.axis, &contrast.wanted};
  }
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
