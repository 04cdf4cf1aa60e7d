#pragma once

#include <string>
#include <vector>

#include "core/config/sweep.hpp"

namespace depthgrid {

/// A model without a sweep file: the sweep `model: {LEAF: NAME}` under overrides.
/// @param leaf  "family" or "preset". @param set  overrides, LEAF=VALUE.
/// @param yes   allow more cells than `max_cells`.
/// @throws UserError as load_sweep() does.
Sweep sweep_of_model(const std::string& leaf, const std::string& name, std::vector<std::string> set,
                     bool yes = false);

}  // namespace depthgrid
