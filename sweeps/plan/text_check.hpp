#pragma once

#include <string>
#include <vector>

#include "core/config/sweep.hpp"
#include "storage/store.hpp"

namespace depthgrid {

/// Why `run` would refuse the user's own texts (`data.corpus: file`) of cells without a result: the
/// store has pinned others. One line for each text. Only digests of files are compared, so that no
/// corpus is opened; tokenised files (.bin) are left to `run`.
std::vector<std::string> refused_texts(const Sweep& sweep, const Store& store);

}  // namespace depthgrid
