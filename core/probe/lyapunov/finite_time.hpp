#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>

#include "core/probe/lyapunov/tangent_map.hpp"

namespace depthgrid {

/// How the largest singular values of a tangent map are found.
struct SubspaceOptions {
  std::int64_t exponents = 8;     // k
  std::int64_t oversampling = 8;  // p: further directions, which only improve the convergence
  std::int64_t iterations = 4;    // cap; each costs k + p products with D and with Dᵀ
  double tolerance = 1e-3;        // relative change of the k-th singular value
  std::uint64_t seed = 0;         // of the first directions
  std::int64_t first_sequence = 0;
};

/// Stretches of a map at every cell and sequence. A cell whose map is not finite has NaN.
struct Stretches {
  at::Tensor log_stretch;  // (E, B, k) double: ln s_i, descending; NaN beyond N
  at::Tensor error;        // (E, B, k) change of ln s_i in the last iteration; NaN after only one
  at::Tensor bound;        // (E, B, k) some ln σ of D is as near to ln s_i; infinite: unknown
  at::Tensor iterations;   // (E, B) int64
  at::Tensor converged;    // (E, B) bool
  at::Tensor log_det;      // (E, B) ln |det D| if k + p >= N, else NaN
  at::Tensor all;          // (E, B, N) all ln s_i if k + p >= N, else undefined
  at::Tensor directions;   // (E, B, k, N) right singular vectors v_i: D v_i is s_i long
};

/// The k largest singular values of D by randomised subspace iteration on DᵀD:
/// W = D Q, s = svd(W), Q <- qr(Dᵀ U) with W = U S Vᵀ, from a random orthonormal Q.
///
/// QR and SVD are in double precision. With k + p >= N the basis is complete, and the first
/// iteration is exact. Each cell and sequence ends its own iteration: its numbers stay as they were
/// when it reached the tolerance, whatever its neighbours do.
///
/// `bound` is −½ ln(1 − r_i/s_i) with the residual r_i = ‖Dᵀu_i − s_i v_i‖ of the last iterate,
/// which takes k more products with Dᵀ. Since D v_i = s_i u_i, the vector v_i has the Rayleigh
/// quotient s_i² and the residual s_i r_i under DᵀD, so that some singular value σ has |σ² − s_i²|
/// <= s_i r_i. It is not said to be the i-th one: a direction that the basis misses leaves no
/// residual. In the other direction nothing is open: the i-th singular value is at least s_i.
/// @throws Error unless exponents and iterations are positive.
/// Source: Halko, Martinsson & Tropp (2011), SIAM Review 53, 217, algorithm 4.4;
/// for the bound Parlett (1998), The Symmetric Eigenvalue Problem, theorem 4.5.1.
Stretches largest_stretches(const TangentMap& map, const SubspaceOptions& options);

}  // namespace depthgrid
