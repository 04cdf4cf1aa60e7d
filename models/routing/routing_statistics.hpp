#pragma once

#include <string_view>
#include <vector>

#include <ATen/core/Tensor.h>

#include "models/options/model_options.hpp"
#include "models/routing/routing_record.hpp"

namespace depthgrid {

/// One number a layer and cell; the name is that of the stored variable.
struct RoutingStatistic {
  std::string_view name;
  std::vector<double> values;  // (E, L), NaN at layers that skip nothing
};

/// Names of what routing_statistics() gives, in its order; empty for families that skip nothing.
std::vector<std::string_view> routing_statistic_names(const ModelOptions& o);

/// What a pass on teacher states and one on student states say of gate, network and router.
/// @param teacher  record of a pass whose layers executed the teacher's choice.
/// @param student  the same texts under the student, with `teach` on.
std::vector<RoutingStatistic> routing_statistics(const ModelOptions& o,
                                                 const RoutingRecord& teacher,
                                                 const RoutingRecord& student);

}  // namespace depthgrid
