#pragma once

#include <ATen/core/Tensor.h>

namespace depthgrid {

/// Eigenvalues of discrete transitions of state-space layers; NaN for non-finite ones.
/// @param transition  (E, L, N) diagonal or (E, L, N, N) dense.
/// @return            (E, L, N) complex double, on the host: of a diagonal one in the order of its
///                    states; of a dense one from the largest modulus down, the member of a pair
///                    with positive imaginary part first.
at::Tensor transition_eigenvalues(const at::Tensor& transition);

/// Spectral radius of transitions: below one, the recurrence forgets; NaN for non-finite ones.
/// @param transition  as above. @return (E, L) double, on the host.
at::Tensor spectral_radius(const at::Tensor& transition);

/// Tokens until the slowest state decays to 1/e: −1/ln ρ; infinite for ρ >= 1.
at::Tensor memory_horizon(const at::Tensor& radius);

}  // namespace depthgrid
