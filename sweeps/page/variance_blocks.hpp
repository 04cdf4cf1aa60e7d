#pragma once

#include <string>

#include "sweeps/compare/compare.hpp"
#include "sweeps/page/page_block.hpp"

namespace depthgrid {

/// Shares of variance, and of two factors how they act together: means of each combination as a
/// picture, contrasts of interactions as a table; or why there are none.
/// @param id  of the picture: "<id>-interaction". @param command  that gives the numbers.
PageBlocks variance_blocks(const Comparison& comparison, const VarianceTable& variance,
                           const std::string& id, const std::string& command);

/// Effects of each factor at single levels of the others, which are outside the family; nothing if
/// there are none.
PageBlocks single_level_blocks(const Comparison& comparison);

}  // namespace depthgrid
