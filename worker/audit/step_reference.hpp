#pragma once

#include <optional>

#include <ATen/core/Tensor.h>

#include "core/train/optimizer/parameter_layout.hpp"
#include "core/train/train_options.hpp"

namespace depthgrid {

/// Adam and AdamW over E cells in float64, with clipping, rates and decay by group, and running
/// averages: written apart from core/train/optimizer, tensor by tensor, for comparison with it.
/// Rates are constant or follow a cosine, after a linear warm-up.
/// Source: Kingma & Ba (2015), algorithm 1; Loshchilov & Hutter (2019), algorithm 2.
class StepReference {
 public:
  /// Whether there is a reference for this optimiser.
  static bool knows(const std::string& optimizer);

  /// Both must outlive the reference. @param layout  of the parameters of a cell.
  StepReference(const ParameterLayout& layout, const TrainOptions& options);

  /// Parameters after a step; moments begin at zero whatever its number. @param step  from 1.
  /// @param values, gradients  (E, P) float64; gradients of the mean loss, without loss scale.
  at::Tensor step(const at::Tensor& values, const at::Tensor& gradients, std::int64_t step);

 private:
  at::Tensor clipped(const at::Tensor& gradients) const;

  const ParameterLayout& layout_;
  const TrainOptions& options_;
  at::Tensor first_, second_;  // (E, P) moments
};

}  // namespace depthgrid
