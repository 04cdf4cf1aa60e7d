#pragma once

#include <cstddef>
#include <string>

#include "core/base/cell.hpp"
#include "core/base/digest.hpp"
#include "core/config/cell_config.hpp"
#include "core/config/schema.hpp"

namespace depthgrid {

/// Digest of {"leaves": leaves that differ from the default, "schema": version} as canonical JSON.
/// Unchanged by new leaves with defaults. Its first 12 hex digits are the cell's id.
Sha256 cell_digest(const CellConfig& config);
CellId cell_id(const CellConfig& config);

/// Fusion key, 16 hex digits: of each leaf that differs from its default what the schema's column
/// `fusion` says: Structural and Observation leaves as they are, the alternative of PerCell*
/// ones. Cells of equal key can be trained as one batched model.
std::string structure_key(const CellConfig& config);

/// What of a leaf's value is in that key. @param leaf  row of the schema.
FusionPart fusion_part(std::size_t leaf, const CellConfig& config);

/// Entries of CellConfig::json() beside the leaves, if known: digests of the user's own files
/// ("data.corpus@sha256", "model.init.from@sha256"), which replace their paths in the identity, and
/// the length of a chain of starts ("model.init.from@depth"), part of the fusion key.
ValueMap beside_leaves(const CellConfig& config);

}  // namespace depthgrid
