#pragma once

#include <string>
#include <vector>

#include "core/data/dataset.hpp"

namespace depthgrid {

/// What takes the meaning from a held-out split: it has the tokens of another, its file is one of
/// those that are trained on, or it is shorter than one window. One sentence for each; kept with
/// the results.
/// @param data  complete, with the digests of its splits (kept_text.hpp).
std::vector<std::string> split_warnings(const Dataset& data, const DataOptions& options);

}  // namespace depthgrid
