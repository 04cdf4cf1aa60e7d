#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>

namespace depthgrid {

/// What training and evaluation need of a model; models/ implements it.
class LanguageModel {
 public:
  virtual ~LanguageModel() = default;

  /// Sum of the next-token losses of each cell over these rows, with a graph behind it.
  /// @param windows    (E, B, T + 1) int64: inputs and, one further, targets.
  /// @param step       training step, from 1; keys the draws.
  /// @param first_row  global row of the first row; keys the draws.
  /// @return           (E) nats.
  virtual at::Tensor training_loss(const at::Tensor& windows, std::int64_t step,
                                   std::int64_t first_row) = 0;

  /// What an evaluation adds up, in evaluation mode, without a graph.
  struct Scores {
    at::Tensor loss;     // (E, n, T) float32, nats
    at::Tensor correct;  // (E, n, T) bool: the most probable token is the target
  };

  /// @param windows  (n, T + 1) int64, the same for all cells.
  virtual Scores score(const at::Tensor& windows) = 0;
};

}  // namespace depthgrid
