#pragma once

#include <string>

#include "sweeps/report/listing.hpp"

namespace depthgrid {

/// What to say of a condition that no cell meets: "no cell meets the condition 'hidden = 9':
/// model.modulation.hidden is 4 or 8". Of many values a few, or the ends of their range.
/// @throws UserError (Usage) as parse_filter().
std::string no_match_text(const Listing& listing, const std::string& filter);

}  // namespace depthgrid
