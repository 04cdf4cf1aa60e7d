#pragma once

#include <string_view>

#include <ATen/core/Tensor.h>

namespace depthgrid {

/// Factors that depth-time puts on the entries, rows or columns of one type of weight.
struct GateValues {
  std::string_view weight_type;  // as on the store's axis: "q"
  at::Tensor values;             // (E, n, m) float: m factors at each of n depth-times
};

/// Range of a gate's function.
struct GateRange {
  double low = 0, high = 1;  // NaN: unbounded
};

}  // namespace depthgrid
