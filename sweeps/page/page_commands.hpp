#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sweeps/page/page_data.hpp"

namespace depthgrid {

// Commands that give what a page shows, with the options that it was made with. Stores have the
// names that the page has for them.

/// "depthgrid compare grid --by model.d_model,train.lr --margin 0.01".
/// @param by  factors; empty: arms. @param derive  option that makes another metric of it, as it is
/// typed: "--target 2.5". The margin, which is in the unit of the sweep's metric, is left out then.
std::string compare_command(const PageData& data, const std::vector<std::string>& by,
                            const std::string& derive = "");

/// "depthgrid compare grid --margin 0.01": arms of one of the stores.
std::string store_command(const PageData& data, std::size_t store);

/// "depthgrid results grid --columns arm,seed,… --csv": the figures of single cells.
std::string results_command(const PageData& data, const std::vector<std::string>& columns);

/// "depthgrid report grid --format svg -o pictures": for pictures that no other verb has numbers
/// of.
std::string picture_command(const PageData& data);

}  // namespace depthgrid
