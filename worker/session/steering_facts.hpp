#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "storage/cells/cell_file.hpp"
#include "worker/eval/steering_evaluation.hpp"

namespace depthgrid {

/// What the signal of a cell does to the words that it was trained for: the variables steering_*,
/// over control_axis, steering_part and, the masses, steering_signal, with the axes' labels.
/// @param axis_names  (c), of `model.control.names`.
/// @param figures     (E), of these c axes; empty: there was no evaluation, nothing is set.
/// @param steps       of training; without any no axis was trained.
void set_steering(CellFacts& facts, const std::vector<std::string>& axis_names,
                  const std::vector<SteeringFigures>& figures, std::size_t e, std::int64_t steps);

}  // namespace depthgrid
