#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/train/language_model.hpp"
#include "models/model.hpp"

namespace depthgrid {

/// Tokens executed by each layer and tokens seen, summed over passes.
struct ExecutedCount {
  at::Tensor executed;      // (E, L) float64 on the host; undefined before the first pass
  std::int64_t tokens = 0;  // seen, per cell and layer
};

/// A Model as a LanguageModel: next-token cross-entropy, or the losses of answers, plus the
/// family's own loss terms.
class CellLanguageModel final : public LanguageModel {
 public:
  /// @param model  must outlive this. @param seeds  (E) model seeds, for draws in training.
  CellLanguageModel(const Model& model, std::vector<std::uint64_t> seeds)
      : model_(model), seeds_(std::move(seeds)) {}

  Losses losses(const Batch& batch) override;
  std::vector<std::string_view> loss_parts() const override;
  Scores score(const Batch& batch) override;
  at::Tensor answer_losses(const Batch& batch) override;

  /// Notified of each depth step of the training passes that they want.
  std::vector<Observer*> watch;

  /// How layers that may skip tokens are executed in evaluation; none: the family's default, which
  /// is causal.
  std::optional<Execution> execution;

  /// The same in training, for checks that force masks; none: as the family trains.
  std::optional<Execution> training_execution;

  /// Holds in `training_execution` the tokens that a training pass over this batch executes and the
  /// values behind its stop-gradients, for checks that change parameters.
  /// @return whether there are layers that skip tokens; else nothing is held.
  bool hold_execution(const Batch& batch);

  /// Holds the directions in which regularisers take the field's Jacobian in training at those of
  /// this batch, for checks that change parameters.
  /// @return them; null for a model without such regularisers.
  std::shared_ptr<const DirectionRecord> hold_directions(const Batch& batch);

  /// Tokens executed in evaluation since the last reset; unused by families without such layers.
  ExecutedCount executed;

 private:
  /// Of the states of whole rows, (E, B) nats.
  at::Tensor answered(const at::Tensor& states, const Answers& answers) const;
  void count(const RoutingRecord& record, const at::Tensor& tokens);

  std::shared_ptr<DirectionRecord> directions_;  // held; null: each pass finds its own

  const Model& model_;
  std::vector<std::uint64_t> seeds_;
};

}  // namespace depthgrid
