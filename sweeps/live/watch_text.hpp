#pragma once

#include <string>
#include <vector>

#include "sweeps/report/listing.hpp"
#include "sweeps/report/sweep_numbers.hpp"

namespace depthgrid {

/// Steps, rate and time left; hours; cells that are asked to stop. One line each.
std::string numbers_text(const SweepNumbers& numbers);

/// What `status --watch` shows on a terminal of this size: the status, then the numbers. No line is
/// wider than `columns` - 1; there are at most `rows` - 1, and what is left out is counted.
/// @param more  lines that follow the status.
std::vector<std::string> watch_lines(const Listing& listing, const SweepNumbers& numbers,
                                     int columns, int rows, const std::string& more = {});

/// The same on one line, for a pipe or a file.
std::string watch_line(const Listing& listing, const SweepNumbers& numbers);

}  // namespace depthgrid
