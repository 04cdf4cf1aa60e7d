#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <ATen/core/Tensor.h>

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

/// Types of weight that probes tell apart. All probes of a job put them on one axis.
inline constexpr std::array<std::string_view, 6> kProbedWeightTypes = {"q",   "k",  "v",
                                                                       "out", "up", "down"};

inline SeriesAxis weight_type_axis() {
  return {.name = "weight_type",
          .length = static_cast<std::int64_t>(kProbedWeightTypes.size()),
          .labels = std::vector<std::string>(kProbedWeightTypes.begin(), kProbedWeightTypes.end())};
}

}  // namespace depthgrid
