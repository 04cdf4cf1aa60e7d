#pragma once

#include <cstddef>
#include <functional>

#include "sweeps/compare/compare.hpp"
#include "sweeps/compare/design.hpp"

namespace depthgrid {

/// Sets the trend of a table of effects: of three or more levels that are numbers, ascending, on
/// the seeds that all of them have, over the combinations of the other factors that all of them
/// have. None where a contrast is refused or its pairs share measurements.
/// @param figure  of a row; NaN: none.
void add_level_trend(const Listing& listing, const Design& design,
                     const std::function<double(std::size_t row)>& figure, EffectTable& table);

}  // namespace depthgrid
