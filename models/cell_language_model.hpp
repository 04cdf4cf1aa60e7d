#pragma once

#include <cstdint>
#include <vector>

#include "core/train/language_model.hpp"
#include "models/model.hpp"

namespace depthgrid {

/// The LanguageModel that a Model is: cross-entropy of the next token.
class CellLanguageModel final : public LanguageModel {
 public:
  /// @param model  must outlive this. @param seeds  (E) model seeds, for draws in training.
  CellLanguageModel(const Model& model, std::vector<std::uint64_t> seeds)
      : model_(model), seeds_(std::move(seeds)) {}

  at::Tensor training_loss(const at::Tensor& windows, std::int64_t step,
                           std::int64_t first_row) override;
  Scores score(const at::Tensor& windows) override;

  /// Told of each depth step of training passes that they want.
  std::vector<Observer*> watch;

 private:
  const Model& model_;
  std::vector<std::uint64_t> seeds_;
};

}  // namespace depthgrid
