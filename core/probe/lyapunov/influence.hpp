#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>

#include "core/probe/lyapunov/directions.hpp"
#include "core/probe/lyapunov/tangent_map.hpp"

namespace depthgrid {

/// ‖∂y_i/∂x_j‖² (Frobenius) of one output token i, for all input tokens j: the mean of
/// ‖(Dᵀ w)_j‖² over Gaussian w on token i. Unbiased; the relative spread is about
/// √(2 / (probes · rank of the block)).
/// @param map    of states (E, B, T, C). @param token  i. @param probes  at least 1.
/// @return       (E, B, T) double
/// Source: Hutchinson (1989), Commun. Stat. Simul. 18, 1059.
at::Tensor influence_on(const TangentMap& map, std::int64_t token, std::int64_t probes,
                        const DirectionDraw& draw);

}  // namespace depthgrid
