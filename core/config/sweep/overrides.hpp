#pragma once

#include <string>
#include <vector>

#include "core/config/sweep/sweep_reader.hpp"

namespace depthgrid {

/// Name of an override's text in messages; no file can have it.
inline constexpr const char* kOverrideName = "--set";

/// Applies "key=value[,value...]" texts to a document. One value fixes a leaf, several make it a
/// factor; the levels of a leaf under `when` are replaced there; sweep-level keys are replaced.
void apply_overrides(const std::vector<std::string>& settings, SweepReader& reader,
                     SweepDocument& document, ValuePool& pool, Diagnostics& diagnostics);

}  // namespace depthgrid
