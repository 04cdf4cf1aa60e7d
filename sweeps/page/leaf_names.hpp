#pragma once

#include <string>
#include <vector>

namespace depthgrid {

/// The last part of a leaf's name ("hidden" of "model.modulation.hidden"), or all of it where
/// another one of `leaves` ends likewise.
std::string short_leaf(const std::string& leaf, const std::vector<std::string>& leaves);

}  // namespace depthgrid
