#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include "core/config/axis_labels.hpp"
#include "core/probe/gate_values.hpp"
#include "core/probe/record.hpp"

namespace depthgrid {

/// The matrices of one depth step as they act there, y = x W^T, times their gates. An undefined
/// tensor: the step has none. A feed-forward sublayer with a gated activation has both of its
/// matrices in `up`.
struct StepWeights {
  at::Tensor q, k, v;   // (E, C, C): H heads of C/H rows each
  at::Tensor out;       // (E, C, C): H heads of C/H columns each
  at::Tensor up, down;  // (E, hidden, C), (E, C, hidden)
};

/// All probes of a job put their types of weight on one axis: kWeightTypeNames, and those of the
/// state-space layers that have gates.
/// @param factors  ProbeSubject::depth_factors()
inline SeriesAxis weight_type_axis(const std::vector<DepthFactor>& factors) {
  std::vector<std::string> types(kWeightTypeNames.begin(), kWeightTypeNames.end());
  for (const DepthFactor& factor : factors) {
    if (const auto type = gated_type(factor.name); !type.empty()) types.emplace_back(type);
  }
  const auto length = static_cast<std::int64_t>(types.size());
  return {.name = "weight_type", .length = length, .labels = std::move(types)};
}

}  // namespace depthgrid
