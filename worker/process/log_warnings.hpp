#pragma once

namespace depthgrid {

/// Sends LibTorch's warnings to our log, below what is shown; the one about gradient layouts says
/// nothing wrong (gradients are views of the arena) and would be printed by every process.
void route_library_warnings();

}  // namespace depthgrid
