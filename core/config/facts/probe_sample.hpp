#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/config/value.hpp"

namespace depthgrid {

/// A leaf that says how many sequences of the probe set a probe takes; null: 8, or all that a
/// smaller set has.
struct ProbeSampleLeaf {
  std::string_view probe;     // lyapunov
  std::string_view path;      // probes.lyapunov.sequences
  std::string_view schedule;  // probes.lyapunov.schedule
};

/// All of them. Raw states have rules of their own: state_volume.hpp.
std::span<const ProbeSampleLeaf> probe_sample_leaves();

/// The number that such a leaf stands for. @param path  of the leaf.
std::int64_t sample_sequences(const ValueOfLeaf& leaf, std::string_view path);

/// Why a probe cannot take so many, and what to do about it; empty if it can.
std::string sample_refusal(const ValueOfLeaf& leaf, std::string_view path);

}  // namespace depthgrid
