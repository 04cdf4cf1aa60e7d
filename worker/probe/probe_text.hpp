#pragma once

#include <cstdint>
#include <string>

#include "core/config/cell_config.hpp"
#include "core/data/dataset.hpp"
#include "sweeps/protocol/commands.hpp"

namespace depthgrid {

/// The first sequences of a cell's probe set, each token as text: {"schema": 1, "probe_set_sha256":
/// digest of the whole set, "sequences": [["The", " cat"], …]}. Control characters and bytes that
/// are not UTF-8 are visible escapes; where the corpus has no tokeniser, tokens are their ids.
/// @param sequences  at most; the set may have fewer.
std::string probe_text(const CellConfig& config, const Dataset& data, std::int64_t sequences);

/// The same of a cell of a store, as the program answers it: of the store's own tokens if the files
/// of the corpus are not there.
/// @throws UserError if there is no such cell (Usage), or its corpus is neither in the store nor
///         where it was.
std::string probe_text(const TokensCommand& command);

}  // namespace depthgrid
