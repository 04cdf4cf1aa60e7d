#pragma once

#include <functional>
#include <vector>

#include "core/config/match.hpp"

namespace depthgrid {

/// The amount of each candidate: parameters, FLOPs per token, or seconds per cell-step.
using Amounts =
    std::function<std::vector<double>(MatchOn on, const std::vector<MatchCandidate>& candidates)>;

/// The width with which the arm matches its reference best.
///
/// Counts grow monotonically with the width: an interval around the wanted amount is divided by
/// sixteen until it is one step wide. Times are measured, so they are neither exact nor monotonic:
/// the secant method, starting from the width that matches FLOPs, ends at a width within the
/// tolerance or at the best of ten.
/// @throws SweepErrors (Usage) at the rule's place, with the nearest width, if none is within the
///         tolerance.
MatchedWidth solve_width(const MatchGoal& goal, const Amounts& amounts);

}  // namespace depthgrid
