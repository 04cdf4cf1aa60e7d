#pragma once

#include <cstddef>
#include <string>

#include "core/config/cell_config.hpp"
#include "core/config/schema.hpp"

namespace depthgrid {

struct Slots;
class ValuePool;

/// {"leaves": hashed leaves that differ from the derived default, "schema": version} as canonical
/// JSON. Unchanged by new leaves with defaults. The first 12 hex digits of its SHA-256 are the
/// cell's id.
std::string identity_text(const Slots& slots);

/// The same of these leaves: those of CellConfig::changed().
std::string identity_text(const ValueMap& changed);

/// Fusion key, 16 hex digits: of each leaf that differs from its default what the schema's column
/// `fusion` says: Structural and Observation leaves as they are, the alternative of PerCell*
/// ones. Cells of equal key can be trained as one batched model.
std::string structure_key(const Slots& slots);

/// What of a leaf's value is in that key. @param leaf  row of the schema.
FusionPart fusion_part(std::size_t leaf, const CellConfig& config);

/// Slots of a resolved configuration, in the caller's pool.
Slots slots_of(const CellConfig& config, ValuePool& pool);

/// Digest of the file that labels sentences (`train.control.labels.file` or `scores`); else empty.
std::string label_digest(const CellConfig& config);

/// Entries of CellConfig::json() beside the leaves, if known: digests of the user's own files
/// ("data.corpus@sha256", "model.init.from@sha256", those of labels and prompts), which replace
/// their paths in the identity, and the length of a chain of starts ("model.init.from@depth"), part
/// of the fusion key.
ValueMap beside_leaves(const CellConfig& config);

}  // namespace depthgrid
