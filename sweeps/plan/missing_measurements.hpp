#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/config/sweep.hpp"
#include "sweeps/plan/structure_cost.hpp"

namespace depthgrid {

/// Finished cells which a probe that the sweep switches on has never measured: a leaf of a probe
/// changes no id, so `run` does not train them again.
struct MissingMeasurements {
  std::string probe;
  std::vector<std::size_t> cells;  // rows of the sweep, ascending
};

/// One entry per probe, in the order in which structures name them. Which probes measure a
/// structure is in `costs`; nothing is known without.
/// @param folder  of the store; may be missing.
std::vector<MissingMeasurements> missing_measurements(const Sweep& sweep, const CostTable& costs,
                                                      const std::filesystem::path& folder);

/// "lyapunov, which the file switches on, has not measured 2 finished cells (a,s0, a,s1): …".
std::string missing_measurements_text(const MissingMeasurements& missing, const Sweep& sweep,
                                      const std::filesystem::path& folder);

/// Says of finished cells that their probes measured by other leaves `probes.*` than the sweep has
/// now (another split or schedule, say): those leaves change no id, so `run` does not train them
/// again. Empty if there are none.
std::string other_probe_leaf_text(const Sweep& sweep, const std::filesystem::path& folder);

/// A line for each probe whose schedule the file gives, other than its default, but for which no
/// cell has anything to measure. Structures without costs, or without times, say nothing.
std::vector<std::string> blind_probes(const Sweep& sweep, const CostTable& costs);

}  // namespace depthgrid
