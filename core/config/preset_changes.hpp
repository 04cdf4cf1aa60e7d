#pragma once

#include <string>
#include <vector>

#include "core/config/cell_config.hpp"

namespace depthgrid {

/// A leaf that a cell has otherwise than the preset that it names.
struct PresetChange {
  std::string leaf;
  std::string preset;  // canonical JSON of the preset's value, resolved
  std::string here;    // and of the cell's
};

/// In the order of the preset's leaves; empty where the cell is the preset, or names none.
/// A model that differs is not the published one, whatever the preset is called.
/// @throws Error for a preset that the schema does not list (a bug).
std::vector<PresetChange> preset_changes(const CellConfig& config);

}  // namespace depthgrid
