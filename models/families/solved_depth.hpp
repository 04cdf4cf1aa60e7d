#pragma once

#include <vector>

#include <ATen/core/Tensor.h>

#include "models/family.hpp"

namespace depthgrid {

/// The block between the nodes of a family that computes its blocks from depth-time alone.
/// @param t  (E).
DecodeBlock block_between(const Family& family, const at::Tensor& t);

/// The whole depth of such a family, dH/dt = L Δt F(H, t), as one run of the method that
/// ModelOptions::solver names. Source: first study, section 9.2.4 (future work).
/// @param context  must outlive the segments, as the family must.
std::vector<DepthSegment> solved_run(const ModelOptions& o, const ForwardContext& context,
                                     const Family& family, DepthGrid grid);

}  // namespace depthgrid
