#pragma once

#include <optional>
#include <vector>

#include <ATen/core/Tensor.h>

#include "models/model.hpp"
#include "models/routing/routing_record.hpp"

namespace depthgrid {

/// Thresholds above which each dynamic layer executes the share γ of held-out tokens: the
/// (1 − γ)-quantile of the quantity that `execution` decides by (a student's logits, a teacher's
/// score), layer after layer, as skipping in one changes the inputs of the next.
/// @param texts      (n, T) int64 each, the same for all cells; at least one.
/// @param execution  Student or TeacherThreshold; its thresholds are not read.
/// @param share      executed in place of γ, for all cells alike; none: γ.
/// @param kept_bytes  of the states of all cells that may wait in front of a layer, so that each
///                    text goes through the depth once; where they take more, each starts again
///                    from its embedding for each layer, with the same bits.
/// @return           (E, dynamic layers) float64 on the model's device.
at::Tensor calibrated_thresholds(const Model& model, const std::vector<at::Tensor>& texts,
                                 Execution execution, std::optional<double> share = {},
                                 double kept_bytes = 256e6);

/// A student's thresholds on a text, and what its layers do on that text under them: the record of
/// a pass of its own with them, to the bit.
struct CalibratedStudent {
  at::Tensor thresholds;  // (E, dynamic layers)
  RoutingRecord record;   // with the teacher's signals
};
/// @param text  (n, T) int64, the same for all cells.
CalibratedStudent calibrated_student(const Model& model, const at::Tensor& text);

}  // namespace depthgrid
