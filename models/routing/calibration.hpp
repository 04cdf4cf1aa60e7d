#pragma once

#include <optional>
#include <vector>

#include <ATen/core/Tensor.h>

#include "models/model.hpp"

namespace depthgrid {

/// Thresholds above which each dynamic layer executes the share γ of held-out tokens: the
/// (1 − γ)-quantile of the quantity that `execution` decides by (a student's logits, a teacher's
/// score), layer after layer, as skipping in one changes the inputs of the next.
/// @param texts      (n, T) int64 each, the same for all cells; at least one.
/// @param execution  Student or TeacherThreshold; its thresholds are not read.
/// @param share      executed in place of γ, for all cells alike; none: γ.
/// @return           (E, dynamic layers) float64 on the model's device.
at::Tensor calibrated_thresholds(const Model& model, const std::vector<at::Tensor>& texts,
                                 Execution execution, std::optional<double> share = {});

}  // namespace depthgrid
