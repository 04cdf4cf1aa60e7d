#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/config/sweep.hpp"

namespace depthgrid {

/// A request to the worker about structures, as JSON: {"schema": 1, FLAG: value, ...,
/// "structures": [{"structure", "config"}]}, one entry per structure, from its first cell in
/// `cells`.
std::string structure_request(const std::vector<const CellPlan*>& cells,
                              const std::vector<std::pair<const char*, bool>>& flags);

}  // namespace depthgrid
