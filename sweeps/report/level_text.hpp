#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/config/value.hpp"

namespace depthgrid {

/// A level as tables show it: as plain_text(), but what would have many digits and is 1/n is "1/6",
/// which conditions and --baseline read back.
std::string level_text(const Value& level);

/// The number of "1/6"; of "1/L", as sweep files write it, with the layers of a cell as L.
/// @param layers  null if not known. @return nothing for any other text.
std::optional<double> fraction_of(std::string_view text, const Value& layers);

}  // namespace depthgrid
