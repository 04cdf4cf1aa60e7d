#pragma once

#include <optional>
#include <string>

#include "core/base/terminal.hpp"
#include "sweeps/compare/compare_report.hpp"

namespace depthgrid {

/// What the end of a run shows of its arms: mean, difference to the baseline, interval, verdict;
/// and the command that shows more. Empty if there is one arm, or no arm has a number.
/// @param size  lines are cut to its columns, arms to its rows: those of the largest differences.
std::string brief_comparison(const Listing& listing, const Comparison& by_arm,
                             const std::optional<NoContrast>& problem, Terminal::Size size);

/// The same of a store whose run has ended, fitted to the terminal (120 columns without one). Where
/// the arms cannot be compared it says why: that is no failure of the run.
/// @param listing  of the sweep in its store (RunSummary::listing).
std::string closing_comparison(Listing listing);

}  // namespace depthgrid
