#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/config/cell_config.hpp"
#include "core/data/labels/corpus_labels.hpp"
#include "storage/cells/cell_file.hpp"
#include "worker/eval/control_evaluation.hpp"
#include "worker/eval/steering_evaluation.hpp"

namespace depthgrid {

/// What is known of a cell's labels before it is trained: the variables control_label_*, and which
/// axes its training moves.
void set_labels(CellFacts& facts, const CorpusLabels& labels, const CellConfig& config);

/// What its signal does at the end: the other variables control_*. @param figures  by Split, (E).
void set_control(CellFacts& facts, const CorpusLabels& labels,
                 const std::array<std::vector<ControlFigures>, 4>& figures, std::size_t e);

/// What the signal of a cell does to the words that it was trained for: the variables steering_*,
/// over control_axis, steering_part and, the masses, steering_signal, with the axes' labels.
/// @param axis_names  (c), of `model.control.names`.
/// @param figures     (E), of these c axes; empty: there was no evaluation, nothing is set.
/// @param steps       of training; without any no axis was trained.
void set_steering(CellFacts& facts, const std::vector<std::string>& axis_names,
                  const std::vector<SteeringFigures>& figures, std::size_t e, std::int64_t steps);

}  // namespace depthgrid
