#pragma once

#include "core/train/optimizer/arena.hpp"
#include "models/model.hpp"

namespace depthgrid {

/// A model of the same parameters in float64, copied at construction. Neither changes the other.
class WideModel {
 public:
  /// @param arena  the parameters of `model`.
  WideModel(const Model& model, const Arena& arena);

  const Model& model() const noexcept { return model_; }
  const Arena& arena() const noexcept { return arena_; }

 private:
  Arena arena_;
  Model model_;  // of the arena above
};

}  // namespace depthgrid
