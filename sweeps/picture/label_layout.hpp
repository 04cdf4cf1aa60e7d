#pragma once

#include <span>
#include <vector>

namespace depthgrid {

/// Places for labels that want to stand at `wanted`, at least `distance` from each other.
///
/// Their order stays (of equal places, that of the argument) and the sum of the squared shifts is
/// the least possible. Within low … high; if there is no room for all, they start at `low` and go
/// on beyond `high`.
/// @param wanted  finite pixels, in any order. @return  a place for each, in that order.
/// Source: subtracting i · distance from the i-th leaves isotonic regression, solved by pooling
/// adjacent violators (Barlow et al., Statistical Inference under Order Restrictions, 1972);
/// limits: its solution, clamped, solves the limited problem.
std::vector<double> spread_apart(std::span<const double> wanted, double distance, double low,
                                 double high);

}  // namespace depthgrid
