#pragma once

#include <string>

#include "core/config/cell_config.hpp"
#include "core/config/resolve/slots.hpp"

namespace depthgrid {

/// Canonical text whose SHA-256 is a cell's identity: hashed leaves that differ from their derived
/// defaults, and the schema's version.
std::string identity_text(const Slots& slots);
/// The same for the fusion key.
std::string structure_text(const Slots& slots);
std::string structure_digest(const std::string& text);
/// The leaves in identity_text().
ValueMap changed_leaves(const Slots& slots);

/// Slots of a resolved configuration, in the caller's pool.
Slots slots_of(const CellConfig& config, ValuePool& pool);

}  // namespace depthgrid
