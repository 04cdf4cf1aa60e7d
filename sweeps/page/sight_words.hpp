#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sweeps/compare/compare.hpp"
#include "sweeps/page/probe_pictures.hpp"
#include "sweeps/page/probe_sights.hpp"
#include "sweeps/report/table.hpp"

namespace depthgrid {

// What a picture of probe_pictures() says in words and numbers, for those who do not see it.

/// "gate_mean (1/s)": the variable, with its unit unless it has none.
std::string sight_label(std::string_view variable);

/// What the picture is of: the variable, when it was seen, of how many seeds.
/// @param sights  at least one.
std::string sight_introduction(const ProbePicture& picture, std::span<const ArmSight> sights);

/// What is to be seen: of each of the first arms, where its lines begin and end, or its lowest and
/// highest entry in a map. @param arms  rows of Comparison::effects.
std::string sight_summary(const ProbePicture& picture, std::span<const ArmSight> sights,
                          const std::vector<ComparedRow>& arms);

/// The numbers in full precision: arm, entry of `by`, entry of the axis, mean, range, seeds.
Table sight_table(const ProbePicture& picture, std::span<const ArmSight> sights,
                  const std::vector<ComparedRow>& arms);

/// Lines for small print: measurements that are left out since not all seeds have them.
std::string sight_omissions(std::span<const ArmSight> sights, const std::vector<ComparedRow>& arms);

}  // namespace depthgrid
