#pragma once

#include "sweeps/protocol/commands.hpp"

namespace depthgrid {

/// `depthgrid export`: writes the weights of a cell as safetensors. Layout native is one file with
/// the parameters' own names and, in its header, configuration, step and code version; hf-gpt2 is a
/// folder with config.json and model.safetensors that transformers reads as GPT2LMHeadModel.
/// @return exit code. @throws UserError that lists all reasons why the layout cannot express the
///         cell.
int export_weights(const ExportCommand& command);

}  // namespace depthgrid
