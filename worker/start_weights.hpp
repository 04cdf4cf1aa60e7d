#pragma once

#include <vector>

#include "core/config/cell_config.hpp"
#include "core/train/arena.hpp"
#include "models/model_options.hpp"

namespace depthgrid {

/// Sets the parameters of the cells that have `model.init.from` to those of their files; the others
/// keep what they have drawn.
/// @throws UserError naming the file and all that does not fit.
void load_start_weights(const std::vector<const CellConfig*>& cells, const ModelOptions& options,
                        Arena& arena);

}  // namespace depthgrid
