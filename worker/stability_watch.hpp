#pragma once

#include "models/model.hpp"

namespace depthgrid {

/// Says on stderr how far the recurrences of a model's state-space layers are from instability:
/// spectral radii over cells and depths, and the longest memory. A warning where one does not
/// forget; nothing where the model has no such layer.
void log_stability(const Model& model);

}  // namespace depthgrid
