#pragma once

#include "sweeps/protocol/commands.hpp"

namespace depthgrid {

/// `depthgrid eval`: loss, perplexity and bits per byte of a cell's weights on a split of its own
/// corpus, on a split of another one, or on a text file, as a table with one row per mode of
/// execution. On its own corpus the figures equal those recorded by `run`, to the bit.
/// @return exit code. @throws UserError if the cell, its weights, the text, a mode or a decider is
///         missing or unknown.
int eval_cell(const EvalCommand& command);

}  // namespace depthgrid
