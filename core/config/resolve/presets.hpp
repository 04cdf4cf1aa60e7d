#pragma once

#include <string_view>
#include <vector>

#include "core/config/schema/value_pool.hpp"

namespace depthgrid {

/// What a preset fills in: leaves and values, for one pool.
struct PresetLeaf {
  std::size_t leaf;
  const PooledValue* value;
};

/// Leaves of a preset named in the schema (`model.preset`); leaves that a file names win over them.
/// @throws Error for a name that the schema does not list (a bug).
std::vector<PresetLeaf> preset_leaves(std::string_view name, ValuePool& pool);

}  // namespace depthgrid
