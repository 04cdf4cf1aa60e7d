#pragma once

#include <vector>

#include "core/config/cell_config.hpp"
#include "sweeps/orders/orders.hpp"

namespace depthgrid {

/// The cells of a benchmark: those defined by the overrides, or E copies with seeds 0 … E − 1.
/// @throws UserError if these are not --cells cells of one structure.
std::vector<CellConfig> bench_cells(const BenchOrder& order);

}  // namespace depthgrid
