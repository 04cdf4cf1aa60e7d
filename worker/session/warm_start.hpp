#pragma once

#include <string>
#include <vector>

#include "core/config/cell_config.hpp"
#include "core/train/optimizer/arena.hpp"
#include "models/options/model_options.hpp"
#include "worker/session/final_weights.hpp"

namespace depthgrid {

/// What a cell of a job has started from.
struct StartedFrom {
  std::string text;                 // "phase_a,s0 (0123456789ab) after 200 steps, weights 89ab…"
  std::vector<std::string> fresh;   // parameters of added modules, drawn by the cell itself
  std::vector<std::string> zeroed;  // those of group control, which start at zero

  /// One line; empty for drawn weights.
  std::string line() const;
};

/// Sets the parameters of the cells that have `model.init.from` to those of their files or cells,
/// by name; the others keep their drawn values. So do parameters of added modules (see
/// is_added_module()) that the source lacks, except those of a control signal: they begin at zero,
/// so that under any signal the cell initially equals the model that it starts from.
/// @param source  reads the weights of a cell; unused if no cell starts from one.
/// @return  one entry per cell.
/// @throws UserError naming the file and all that does not fit; Error if a source cell does not.
std::vector<StartedFrom> warm_start(const std::vector<const CellConfig*>& cells,
                                    const ModelOptions& options, Arena& arena,
                                    const WeightsReader& source = {});

}  // namespace depthgrid
