#pragma once

#include <optional>
#include <string_view>

namespace depthgrid {

/// Seconds of "H:MM:SS" or "D-H:MM:SS", as Slurm writes times; nothing for any other text, of which
/// "90" (minutes to Slurm, seconds to others) is the most likely one.
std::optional<double> parsed_time_span(std::string_view text);

}  // namespace depthgrid
