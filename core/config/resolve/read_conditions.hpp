#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/config/resolve/schema_condition.hpp"
#include "core/config/resolve/slots.hpp"

namespace depthgrid {

/// Decides whether a cell reads a leaf, by the `read_when` column of the schema.
class ReadConditions {
 public:
  ReadConditions();

  bool reads(std::size_t leaf, const Slots& slots) const;

  /// False if a leaf of the condition has no trusted value.
  bool certain(std::size_t leaf, const Diagnostics& diagnostics) const;

  /// "`model.rope_base` is read with `model.positions: rope`; here `model.positions` is `learned`:
  /// remove it, or put it under `when:` (nearest leaf that is read: `model.positions`)".
  std::string explain(std::size_t leaf, const Slots& slots) const;

 private:
  std::vector<SchemaCondition> conditions_;  // by leaf
};

}  // namespace depthgrid
