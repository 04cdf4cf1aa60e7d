#pragma once

#include "core/config/cell_config.hpp"
#include "sweeps/protocol/commands.hpp"

namespace depthgrid {

/// `depthgrid bench step`: times whole training steps of E fused cells, batch to update, and prints
/// milliseconds per cell-step. With a dump folder, writes what another program needs to repeat the
/// steps: configuration, initial weights and batches, and the losses of the first twenty steps.
/// `depthgrid bench optimiser`: times norm pass, clip and update alone.
/// `depthgrid bench journal`: times one training row of one cell, in the temporary folder.
/// @return exit code. @throws UserError (Usage) for anything else to benchmark, or cells that do
///         not form one structure.
int bench(const BenchCommand& command);

/// `depthgrid bench decode`: times `command.steps` tokens of one sequence, one by one, alternately
/// with caches and by running the model over the whole sequence for each token; prints tokens per
/// second of both (medians). Weights are a cell's initial values; with a cell of a store, whose
/// layers skip tokens, those that it has learned, and its own decisions. @return exit code.
/// @throws UserError (Usage) if the tokens do not fit the learned positions.
int bench_decode(const BenchCommand& command);

/// `depthgrid bench forward`: times the parts of a forward pass over one batch (embedding, layers,
/// flow, readout) and the whole of it, `command.steps` times in random order, beside the operations
/// that each takes; medians and quartiles. @return exit code.
int bench_forward(const BenchCommand& command);

/// `depthgrid bench kernels`: times every kernel of the CPU at the sizes of cells, each variant
/// up to that in use, beside LibTorch's product of the same
/// operations, or a copy of the same bytes, on one thread. @return exit code.
int bench_kernels(const BenchCommand& command);

/// The cell of a benchmark of one cell, whose threads are then in force.
CellConfig bench_cell(BenchCommand command);

}  // namespace depthgrid
