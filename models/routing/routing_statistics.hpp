#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <ATen/core/Tensor.h>

#include "models/options/model_options.hpp"
#include "models/routing/routing_record.hpp"

namespace depthgrid {

/// Numbers of each layer and cell; the name is that of the stored variable.
struct RoutingStatistic {
  std::string_view name;
  std::vector<double> values;  // (E, L, width), NaN for layers that do not skip
  std::int64_t width = 1;      // entries of the variable's axis after `layer`
};

inline constexpr std::int64_t kPositionDeciles = 10;
inline constexpr std::int64_t kReliabilityBins = 10;
inline constexpr std::int64_t kGateBins = 32;

/// Names and widths of the results of routing_statistics(), in order, without values; empty for
/// families that do not skip.
std::vector<RoutingStatistic> routing_statistic_rows(const ModelOptions& o);

/// Statistics of gate, network and router from a pass on the states of training and one on student
/// states: those are `…_student`, against what the teacher would choose at the student's states. A
/// router decides at the probability 1/2. What is not defined is NaN: quotients whose denominator
/// is 0 (precision where nothing is decided for, recall and overlaps where nothing is selected),
/// entropies relative to that of a rate of 0 or 1, gaps below a rank that is the last one, cosines
/// with 0, and whatever compares numbers that are not finite.
/// @param teacher  record, with `teach` on, of a pass in the family's training mode: its layers
///                 executed the teacher's choice, or every token where training skips none.
/// @param student  record of the same texts under the student, with `teach` on.
std::vector<RoutingStatistic> routing_statistics(const ModelOptions& o,
                                                 const RoutingRecord& teacher,
                                                 const RoutingRecord& student);

}  // namespace depthgrid
