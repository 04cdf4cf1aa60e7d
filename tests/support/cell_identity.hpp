#pragma once

#include <string>

#include "core/base/cell.hpp"
#include "core/base/digest.hpp"
#include "core/config/identity.hpp"
#include "core/config/resolve/slots.hpp"

namespace depthgrid {

/// Id of a cell with this configuration, as a sweep gives it.
inline CellId cell_id(const CellConfig& config) {
  ValuePool pool;
  return hex(sha256(identity_text(slots_of(config, pool))), 12);
}

/// Its fusion key.
inline std::string structure_key(const CellConfig& config) {
  ValuePool pool;
  return structure_key(slots_of(config, pool));
}

}  // namespace depthgrid
