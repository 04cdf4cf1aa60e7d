#pragma once

#include <string>
#include <vector>

#include "sweeps/live/live_sweep.hpp"

namespace depthgrid {

/// 63 -> "1:03", 3723 -> "1:02:03", 187384 -> "2 d 04:03"; "?" for NaN.
std::string clock_text(double seconds);

/// What a terminal of this size shows: a bar over all cell-steps, the times, one line per running
/// job and what has failed or diverged. No line is wider than `columns` - 1, so that none wraps;
/// there are at most `rows` - 2 lines, and jobs beyond are counted.
std::vector<std::string> live_lines(const LiveView& view, int columns, int rows);

/// The same on one line of text, for a pipe or a file.
std::string plain_line(const LiveView& view);

}  // namespace depthgrid
