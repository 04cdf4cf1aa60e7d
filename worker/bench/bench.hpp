#pragma once

#include "sweeps/orders/orders.hpp"

namespace depthgrid {

/// `depthgrid bench step`: times whole training steps of E fused cells, batch to update, and prints
/// milliseconds per cell-step. With a dump folder, writes what another program needs to repeat the
/// steps: configuration, initial weights and batches, and the losses of the first twenty steps.
/// `depthgrid bench optimiser`: times norm pass, clip and update alone.
/// `depthgrid bench journal`: times one training row of one cell, in the temporary folder.
/// @return exit code. @throws UserError (Usage) for anything else to benchmark, or cells that do
/// not
///         form one structure.
int bench(const BenchOrder& order);

}  // namespace depthgrid
