#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/train/language_model.hpp"
#include "models/model.hpp"

namespace depthgrid {

/// Tokens that each layer has executed of those that it saw, added up over passes.
struct ExecutedCount {
  at::Tensor executed;      // (E, L) float64 on the host; undefined before the first pass
  std::int64_t tokens = 0;  // of a cell, a layer
};

/// The LanguageModel that a Model is: cross-entropy of the next token, and what the family adds.
class CellLanguageModel final : public LanguageModel {
 public:
  /// @param model  must outlive this. @param seeds  (E) model seeds, for draws in training.
  CellLanguageModel(const Model& model, std::vector<std::uint64_t> seeds)
      : model_(model), seeds_(std::move(seeds)) {}

  Losses losses(const Batch& batch) override;
  std::vector<std::string_view> loss_parts() const override;
  Scores score(const Batch& batch) override;

  /// Told of each depth step of training passes that they want.
  std::vector<Observer*> watch;

  /// How layers that may skip tokens are executed in evaluation; none: as the family does by
  /// itself, which is causal.
  std::optional<Execution> execution;

  /// The same in training, where a check forces masks; none: as the family trains.
  std::optional<Execution> training_execution;

  /// What evaluation has executed since this was last reset; families without such layers leave it.
  ExecutedCount executed;

 private:
  void count(const RoutingRecord& record, const at::Tensor& tokens);

  const Model& model_;
  std::vector<std::uint64_t> seeds_;
};

}  // namespace depthgrid
