#pragma once

#include <string_view>
#include <vector>

#include "core/config/sweep/leaf_reader.hpp"
#include "core/config/sweep/sweep_document.hpp"

namespace depthgrid {

/// {leaf: value, ..., tag: name}: selects arms. Problems are reported.
/// @param what  its key, for messages.
ArmSelection read_selection(const YamlNode& node, std::string_view what, LeafReader& leaves,
                            Diagnostics& diagnostics);

/// The value of `match`: one rule {on, vary, tolerance, reference, arms}, or a list of them.
std::vector<MatchRow> read_match(const YamlNode& node, LeafReader& leaves,
                                 Diagnostics& diagnostics);

}  // namespace depthgrid
