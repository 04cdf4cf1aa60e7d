#pragma once

#include <ATen/core/Tensor.h>

#include "core/probe/lyapunov/tangent_map.hpp"

namespace depthgrid {

/// ln |R_ii| of one step on orthonormal directions, which move on with it: D Q = Q' R.
///
/// Summed over the steps of a map, from its right singular vectors, these are exactly ln s_i: at
/// the end the images of such a frame are orthogonal. From any other frame they are not.
/// @param frame  (E, B, M, N) double, replaced by Q'; NaN where directions are not finite.
/// @return       (E, B, M) double
at::Tensor advance_frame(const TangentMap& step, at::Tensor& frame);

}  // namespace depthgrid
