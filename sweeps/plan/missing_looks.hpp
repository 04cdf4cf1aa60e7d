#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/config/sweep.hpp"
#include "sweeps/plan/structure_cost.hpp"

namespace depthgrid {

/// Finished cells at which a probe that the sweep switches on has never looked: a leaf of a probe
/// changes no id, so `run` does not train them again.
struct MissingLooks {
  std::string probe;
  std::vector<std::size_t> cells;  // rows of the sweep, ascending
};

/// One entry per probe, in the order in which structures name them. Which probes look at a
/// structure is in `costs`; nothing is known without.
/// @param folder  of the store; may be missing.
std::vector<MissingLooks> missing_looks(const Sweep& sweep, const CostTable& costs,
                                        const std::filesystem::path& folder);

/// "lyapunov, which the file switches on, has not looked at 2 finished cells (a,s0, a,s1): …".
std::string missing_looks_text(const MissingLooks& missing, const Sweep& sweep,
                               const std::filesystem::path& folder);

/// Says of finished cells that their probes looked by other leaves `probes.*` than the sweep has
/// now (another split or schedule, say): those leaves change no id, so `run` does not train them
/// again. Empty if there are none.
std::string other_looks_text(const Sweep& sweep, const std::filesystem::path& folder);

/// A line for each probe whose schedule the file gives, other than its default, but for which no
/// cell has anything to look at. Structures without costs, or without times, say nothing.
std::vector<std::string> blind_probes(const Sweep& sweep, const CostTable& costs);

}  // namespace depthgrid
