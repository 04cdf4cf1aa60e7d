#pragma once

#include <string>

#include "sweeps/compare/compare.hpp"
#include "sweeps/page/page_block.hpp"

namespace depthgrid {

/// Groups beside their baseline: what is decided, in sentences; effects as a forest plot, if there
/// is an interval; the table, and notes below it.
/// @param id  of the picture: "<id>-effects".
PageBlocks effects_blocks(const Comparison& comparison, const EffectTable& effects,
                          const std::string& id);

/// Every seed and the mean of each group.
PageChart means_chart(const Comparison& comparison, const EffectTable& effects,
                      const std::string& id);

}  // namespace depthgrid
