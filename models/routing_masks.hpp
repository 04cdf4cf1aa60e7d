#pragma once

#include <map>

#include <ATen/core/Tensor.h>

namespace depthgrid {

/// Which tokens passed through the layers that may leave some out: depth step -> (E, B, T) bool.
/// Layers that take every token are absent.
using RoutingMasks = std::map<std::int64_t, at::Tensor>;

}  // namespace depthgrid
