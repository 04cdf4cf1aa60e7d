#pragma once

#include <string_view>
#include <vector>

#include <ATen/core/Tensor.h>

#include "models/options/model_options.hpp"
#include "models/routing/routing_record.hpp"

namespace depthgrid {

/// One number per layer and cell; the name is that of the stored variable.
struct RoutingStatistic {
  std::string_view name;
  std::vector<double> values;  // (E, L), NaN for layers that do not skip
};

/// Names of the results of routing_statistics(), in order; empty for families that do not skip.
std::vector<std::string_view> routing_statistic_names(const ModelOptions& o);

/// Statistics of gate, network and router from a pass on the states of training and one on student
/// states.
/// @param teacher  record, with `teach` on, of a pass in the family's training mode: its layers
///                 executed the teacher's choice, or every token where training skips none.
/// @param student  record of the same texts under the student, with `teach` on.
std::vector<RoutingStatistic> routing_statistics(const ModelOptions& o,
                                                 const RoutingRecord& teacher,
                                                 const RoutingRecord& student);

}  // namespace depthgrid
