#pragma once

#include <vector>

#include "core/config/cell_config.hpp"
#include "sweeps/plan/structure_cost.hpp"

namespace depthgrid {

/// Costs of the probes that a configuration switches on: each looks once at a model of one cell
/// with initial weights, on random tokens. Where its time is proportional to a number of sequences,
/// it looks at one.
std::vector<ProbeCost> probe_costs(const CellConfig& config);

}  // namespace depthgrid
