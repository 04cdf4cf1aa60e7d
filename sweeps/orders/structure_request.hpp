#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/config/sweep.hpp"

namespace depthgrid {

/// What the worker is asked about structures, as JSON: {"schema": 1, FLAG: value, ...,
/// "structures":
/// [{"structure", "config"}]}, one entry a structure, of the first of `cells` that has it.
std::string structure_request(const std::vector<const CellPlan*>& cells,
                              const std::vector<std::pair<const char*, bool>>& flags);

}  // namespace depthgrid
