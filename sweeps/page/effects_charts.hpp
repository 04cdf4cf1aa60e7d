#pragma once

#include <optional>
#include <string>

#include "sweeps/compare/compare.hpp"
#include "sweeps/page/page_block.hpp"

namespace depthgrid {

// Pictures of groups beside their baseline. `command` is the one that gives the numbers.

/// Effects against the baseline, as a forest plot; nothing if there is no interval.
std::optional<PageChart> effects_chart(const Comparison& comparison, const EffectTable& effects,
                                       const std::string& id, const std::string& command);

/// All contrasts of the family in one forest plot, likewise.
std::optional<PageChart> family_chart(const Comparison& comparison, const std::string& id,
                                      const std::string& command);

/// Every seed and the mean of each group.
PageChart means_chart(const Comparison& comparison, const EffectTable& effects,
                      const std::string& id, const std::string& command);

}  // namespace depthgrid
