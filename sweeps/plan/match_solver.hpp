#pragma once

#include <functional>
#include <vector>

#include "core/config/match.hpp"

namespace depthgrid {

/// The amount of each candidate: parameters, FLOPs of a token, or seconds of a cell's step.
using Amounts =
    std::function<std::vector<double>(MatchOn on, const std::vector<MatchCandidate>& candidates)>;

/// The width of which the arm meets its reference best.
///
/// Counts never shrink with a width: an interval around the wanted amount is cut into sixteen until
/// it is one step wide. Times are measured, hence neither exact nor sure to grow: from the width
/// that matches FLOPs on, secants lead to one within the tolerance, or to the best of ten.
/// @throws SweepErrors (Usage) at the rule's place, with the nearest width, if none is within the
///         tolerance.
MatchedWidth solve_width(const MatchGoal& goal, const Amounts& amounts);

}  // namespace depthgrid
