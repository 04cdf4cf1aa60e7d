#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "core/config/cell_config.hpp"
#include "core/data/labels/corpus_labels.hpp"
#include "storage/cells/cell_file.hpp"
#include "worker/eval/control_evaluation.hpp"

namespace depthgrid {

/// What is known of a cell's labels before it is trained: the variables control_label_*, and which
/// axes its training moves.
void set_labels(CellFacts& facts, const CorpusLabels& labels, const CellConfig& config);

/// What its signal does at the end: the other variables control_*. @param figures  by Split, (E).
void set_control(CellFacts& facts, const CorpusLabels& labels,
                 const std::array<std::vector<ControlFigures>, 4>& figures, std::size_t e);

}  // namespace depthgrid
