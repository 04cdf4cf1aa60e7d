#pragma once

#include <string>
#include <vector>

#include "core/config/cell_config.hpp"

namespace depthgrid {

/// The configuration of a cell with other leaves of class Observation, which do not belong to its
/// identity. @param settings  "probes.lyapunov.exponents=4", as for --set.
/// @throws SweepErrors naming every problem: unknown leaves, values, leaves of another class.
CellConfig with_observations(const CellConfig& config, const std::vector<std::string>& settings);

}  // namespace depthgrid
