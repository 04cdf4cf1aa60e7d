#pragma once

#include <string>
#include <vector>

#include "core/data/dataset.hpp"

namespace depthgrid {

/// What makes a held-out split none: it has the tokens of another, or its file is one of those that
/// are trained on. One sentence for each; kept with the results.
/// @param data  complete, with the digests of its splits (kept_text.hpp).
std::vector<std::string> equal_splits(const Dataset& data, const DataOptions& options);

}  // namespace depthgrid
