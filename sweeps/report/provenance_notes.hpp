#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "sweeps/report/listing.hpp"

namespace depthgrid {

/// Settings of precision_settings (threads, ranks, device, deterministic) that differ
/// between these cells, each with its values and the number of cells that were computed with them.
/// They are no part of a cell's identity, and sums in another order differ in their last digits.
std::map<std::string, std::map<std::string, std::size_t>> mixed_settings(
    const Listing& listing, const std::vector<std::size_t>& cells);

/// Corpora of which these cells have results whose tokens were made by the rules of an earlier
/// release, with the number of those rules. @return  empty if there are none.
std::map<std::string, int> older_text_rules(const Listing& listing,
                                            const std::vector<std::size_t>& cells);

/// Says both below an output; else empty.
std::string provenance_notes(const Listing& listing, const std::vector<std::size_t>& cells);

}  // namespace depthgrid
