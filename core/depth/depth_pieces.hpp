#pragma once

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

#include "core/depth/depth_method.hpp"

namespace depthgrid {

/// A part of the depth: the state after step `to`, given the one after step `from`, with the bits
/// of a pass over all of it. A method that remembers earlier steps begins afresh at `from`. 0 <=
/// from <= to <= L; step 0 stands for the embedding.
/// @param x  (E, B, T, C). @param u  control signal of these tokens. @return the same shape; x
/// itself if from = to.
/// @throws Error if there are no such steps.
at::Tensor advance(const std::vector<DepthSegment>& segments, const at::Tensor& x,
                   std::int64_t from, std::int64_t to, const Control& u = {},
                   const DepthPass& pass = {});

}  // namespace depthgrid
