#pragma once

#include <string>
#include <vector>

#include "core/config/cell_config.hpp"

namespace depthgrid {

/// A leaf whose value in a cell differs from the cell's preset.
struct PresetChange {
  std::string leaf;
  std::string preset;  // canonical JSON of the preset's value, resolved
  std::string here;    // canonical JSON of the cell's value
};

/// In the order of the preset's leaves; empty if the cell equals its preset or names none.
/// A model that differs is not the published one, whatever the preset's name.
/// @throws Error for a preset that the schema does not list (a bug).
std::vector<PresetChange> preset_changes(const CellConfig& config);

}  // namespace depthgrid
