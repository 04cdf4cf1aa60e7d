#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/cell_config.hpp"

namespace depthgrid {

class ValuePool;

/// A leaf filled in by a preset; the value belongs to one pool.
struct PresetLeaf {
  std::size_t leaf;
  const PooledValue* value;
};

/// Leaves of a preset named in the schema (`model.preset`); leaves given in a file override them.
/// @throws Error for a name that the schema does not list (a bug).
std::vector<PresetLeaf> preset_leaves(std::string_view name, ValuePool& pool);

/// A leaf whose value in a cell differs from the cell's preset.
struct PresetChange {
  std::string leaf;
  std::string preset;  // canonical JSON of the preset's value, resolved
  std::string here;    // canonical JSON of the cell's value
};

/// In the order of the preset's leaves; empty if the cell equals its preset or names none.
/// A model that differs is not the published one, whatever the preset's name.
std::vector<PresetChange> preset_changes(const CellConfig& config);

/// A difference between a preset with a published program's shapes and that program.
struct PresetDeviation {
  std::string_view what;       // "attention"
  std::string_view published;  // in the program
  std::string_view here;       // here, with the leaf that decides it
};

/// Empty for presets without a published program.
std::vector<PresetDeviation> preset_deviations(std::string_view preset);

}  // namespace depthgrid
