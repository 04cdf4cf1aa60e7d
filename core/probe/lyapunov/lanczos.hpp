#pragma once

#include <cstdint>
#include <functional>

#include <ATen/core/Tensor.h>

#include "core/probe/lyapunov/directions.hpp"
#include "core/probe/lyapunov/tangent_map.hpp"

namespace depthgrid {

/// Steps of Lanczos: each costs one product, or two for the quantities below.
constexpr std::int64_t kLanczosSteps = 8;

/// The largest eigenvalue of a symmetric map of states, for each cell and sequence; approached from
/// below, exact after N steps. NaN where the map is not finite.
/// @param symmetric  (E, B, ...) -> (E, B, ...). @param state  sizes of a state.
/// @return           (E, B) double
/// Source: Lanczos (1950), J. Res. Nat. Bur. Standards 45, 255; with full reorthogonalisation.
at::Tensor largest_eigenvalue(const std::function<at::Tensor(const at::Tensor&)>& symmetric,
                              at::IntArrayRef state, const DirectionDraw& draw,
                              std::int64_t steps = kLanczosSteps);

/// Logarithmic norm μ₂ of D: the largest eigenvalue of (D + Dᵀ)/2. (E, B)
/// Source: Söderlind (2006), BIT 46, 631.
at::Tensor log_norm(const TangentMap& map, const DirectionDraw& draw,
                    std::int64_t steps = kLanczosSteps);

/// ln s_1 of D, by its singular values' squares as eigenvalues of DᵀD. (E, B)
at::Tensor largest_log_stretch(const TangentMap& map, const DirectionDraw& draw,
                               std::int64_t steps = kLanczosSteps);

}  // namespace depthgrid
