#pragma once

#include <string_view>

#include <ATen/core/Tensor.h>

namespace depthgrid {

/// Factors that depth-time puts on the entries, rows or columns of one type of weight.
struct GateValues {
  std::string_view weight_type;  // as on the store's axis: "q"
  at::Tensor values;             // (E, n, m) float: m factors at each of n depth-times
};

/// What else a step applies to its parts that is learned or generated from depth-time: scales and
/// shifts of temporal norms, gates of a state-space layer, learned gains of shared weights.
struct DepthFactor {
  std::string_view name;  // as on the store's axis `depth_factor`: "norm1.scale"
  at::Tensor values;      // (E, L, m) float: m numbers at each depth step
};

/// The type of weight whose gate a factor is: "A" of "ssm.A", "dt" of "ssm.delta"; empty for
/// others.
constexpr std::string_view gated_type(std::string_view factor) {
  if (!factor.starts_with("ssm.")) return {};
  return factor == "ssm.delta" ? "dt" : factor.substr(4);
}

/// Range of a gate's function.
struct GateRange {
  double low = 0, high = 1;  // NaN: unbounded
};

}  // namespace depthgrid
