#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <ATen/core/Tensor.h>

namespace depthgrid {

/// What training and evaluation need of a model; models/ implements it.
class LanguageModel {
 public:
  virtual ~LanguageModel() = default;

  /// Sum of the losses of each cell over these rows, with a graph behind it: of the next tokens,
  /// and of what the model adds to them in training.
  /// @param windows    (E, B, T + 1) int64: inputs and, one further, targets.
  /// @param step       training step, from 1; keys the draws.
  /// @param first_row  global row of the first row; keys the draws.
  /// @return           (E) nats.
  virtual at::Tensor training_loss(const at::Tensor& windows, std::int64_t step,
                                   std::int64_t first_row) = 0;

  /// What a training step minimises and what it is made of: sums over these rows' tokens.
  struct Losses {
    at::Tensor total;               // (E), with a graph behind it
    at::Tensor language;            // (E) nats, the next-token losses alone
    std::vector<at::Tensor> parts;  // (E) each, before their weights, in the order of loss_parts()
  };

  /// As training_loss, which is its total.
  virtual Losses losses(const at::Tensor& windows, std::int64_t step, std::int64_t first_row) {
    const at::Tensor loss = training_loss(windows, step, first_row);
    return {loss, loss, {}};
  }

  /// Names of Losses::parts: NAME is recorded as train_loss_NAME.
  virtual std::vector<std::string_view> loss_parts() const { return {}; }

  /// What an evaluation adds up, in evaluation mode, without a graph.
  struct Scores {
    at::Tensor loss;     // (E, n, T) float32, nats
    at::Tensor correct;  // (E, n, T) bool: the most probable token is the target
  };

  /// @param windows  (n, T + 1) int64, the same for all cells.
  virtual Scores score(const at::Tensor& windows) = 0;

  /// The same for windows that are rows first_row, ... of an evaluation, which keys draws where a
  /// model makes any.
  virtual Scores score_rows(const at::Tensor& windows, std::int64_t) { return score(windows); }
};

}  // namespace depthgrid
