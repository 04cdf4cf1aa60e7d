#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/config/cell_config.hpp"
#include "core/data/dataset.hpp"
#include "core/probe/probe_set.hpp"

namespace depthgrid {

/// The sequences of the leaves `probes.set.*`: windows of T + 1 tokens drawn uniformly from a split
/// by its own seed, so the same for every cell and structure that reads the same tokens; and the
/// classes of tokens of `probes.trajectory.token_classes`:
///
///   all       every position
///   first     the first position of the window
///   frequent  the most frequent ids of the training text, the fewest that make up a tenth of it
///   rare      the least frequent ids, as many as make up no more than a tenth of it
///   space     ids that stand for white space; none where the corpus has no tokeniser
///
/// Without such a split, or if it is shorter than a window, the training split is used.
ProbeSet probe_tokens(const CellConfig& config, const Dataset& data);

/// SHA-256 of the windows of that set, hex: of their ids as little-endian int64, one window after
/// the other. Draws the windows alone.
std::string probe_set_digest(const CellConfig& config, const Dataset& data);

/// Number of its sequences.
std::int64_t probe_sequences(const CellConfig& config);
/// Number of them that a leaf of probe_sample_leaves() stands for.
std::int64_t probe_sequences(const CellConfig& config, std::string_view path);

}  // namespace depthgrid
