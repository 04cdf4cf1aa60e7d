#pragma once

#include <cstdint>
#include <string>

#include "core/config/value.hpp"

namespace depthgrid {

/// The raw states of one cell that the probe of trajectories keeps, `probes.trajectory.state_*`.
struct StateVolume {
  std::int64_t sequences = 0;     // of each measurement; 0: none are kept
  std::int64_t set = 0;           // sequences of the probe set
  std::int64_t edges = 0;         // L + 1, states along depth
  std::int64_t tokens = 0;        // T
  std::int64_t channels = 0;      // of the C that are kept
  std::int64_t item_bytes = 2;    // of a number
  std::int64_t measurements = 0;  // in the whole training
  double most_bytes = 0;          // that the leaves allow per cell

  /// Bytes of one measurement before compression.
  double measurement_bytes() const;
  double bytes() const { return static_cast<double>(measurements) * measurement_bytes(); }
};

/// All zeros if no states are kept: the leaf `probes.trajectory.state_sequences` alone is read
/// then.
StateVolume state_volume(const ValueOfLeaf& leaf);

/// Why these states cannot be kept and what to do about it; empty if they can.
std::string state_refusal(const StateVolume& volume);

/// Steps along depth: the layers, those of a flow in place of the layers that it replaces, or those
/// in which the whole depth is solved.
std::int64_t depth_steps(const ValueOfLeaf& leaf);

/// Sequences of the probe set: `probes.set.sequences`, or what its default amounts to.
std::int64_t probe_set_sequences(const ValueOfLeaf& leaf);

}  // namespace depthgrid
