#pragma once

#include <string_view>
#include <vector>

#include "core/config/schema/value_pool.hpp"

namespace depthgrid {

/// A leaf filled in by a preset; the value belongs to one pool.
struct PresetLeaf {
  std::size_t leaf;
  const PooledValue* value;
};

/// Leaves of a preset named in the schema (`model.preset`); leaves given in a file override them.
/// @throws Error for a name that the schema does not list (a bug).
std::vector<PresetLeaf> preset_leaves(std::string_view name, ValuePool& pool);

}  // namespace depthgrid
