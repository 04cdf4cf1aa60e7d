#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <ATen/core/Tensor.h>

#include "models/context/forward_context.hpp"

namespace depthgrid {

/// Drops entries with their cell's probability p and scales the others by 1/(1 - p); the identity
/// outside training or if every p is 0.
///
/// Draws are keyed by (model seed, use and layer, step, global row), never by rank or other cells.
/// @param x  (E, B, ...)   @param p  (E)
/// @throws Error in training if the context has no seeds.
/// Source: Srivastava et al. (2014), JMLR 15, 1929.
at::Tensor dropout(const at::Tensor& x, const std::vector<double>& p, std::string_view use,
                   std::int64_t layer, const ForwardContext& context);

}  // namespace depthgrid
