#pragma once

#include <ATen/core/Tensor.h>

namespace depthgrid {

/// Spectral radius of transitions: below one, the recurrence forgets; NaN for non-finite ones.
/// @param transition  (E, L, N) diagonal or (E, L, N, N) dense; Family::transitions().
/// @return            (E, L) float64, on the host.
at::Tensor spectral_radius(const at::Tensor& transition);

/// Tokens until the slowest state decays to 1/e: −1/ln ρ; infinite for ρ >= 1.
at::Tensor memory_horizon(const at::Tensor& radius);

}  // namespace depthgrid
