#pragma once

#include "core/config/resolve/slots.hpp"
#include "core/config/yaml/diagnostics.hpp"

namespace depthgrid {

/// Checks rules between leaves (d_model is a multiple of n_heads, ...). Each failure is reported at
/// the line of a leaf involved, or at `arm` if none is in a file.
void check_cell(const Slots& slots, Place arm, Diagnostics& diagnostics);

}  // namespace depthgrid
