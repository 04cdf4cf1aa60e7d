#pragma once

#include <cstdint>
#include <functional>

#include <ATen/core/Tensor.h>

#include "core/probe/lyapunov/directions.hpp"
#include "core/probe/lyapunov/finite_time.hpp"
#include "core/probe/lyapunov/tangent_map.hpp"

namespace depthgrid {

class DepthTrack;

/// ln |R_ii| of one step on orthonormal directions, which move on with it: D Q = Q' R.
///
/// Summed over the steps of a map, from its right singular vectors, these are exactly ln s_i: at
/// the end the images of such a frame are orthogonal. From any other frame they are not.
/// @param frame  (E, B, M, N) double, replaced by Q'; NaN where directions are not finite.
/// @return       (E, B, M) double
at::Tensor advance_frame(const TangentMap& step, at::Tensor& frame);

/// ‖∂y_i/∂x_j‖² (Frobenius) of one output token i, for all input tokens j: the mean of
/// ‖(Dᵀ w)_j‖² over Gaussian w on token i. Unbiased; the relative spread is about
/// √(2 / (probes · rank of the block)).
/// @param map    of states (E, B, T, C). @param token  i. @param probes  at least 1.
/// @return       (E, B, T) double
/// Source: Hutchinson (1989), Commun. Stat. Simul. 18, 1059.
at::Tensor influence_on(const TangentMap& map, std::int64_t token, std::int64_t probes,
                        const DirectionDraw& draw);

/// States of at most so many entries (tokens · channels) get a complete basis: the whole spectrum
/// and the determinant, exactly.
constexpr std::int64_t kCompleteEntries = 512;

/// What is computed of a depth.
struct DepthSpectrumOptions {
  SubspaceOptions subspace;
  std::int64_t influence_probes = 0;  // r; 0: no influence map
  StateMap final_norm;                // empty: without the normalised spectrum
  bool tong = false;                  // the published procedure, too
};

/// The depth as a map Φ of the state, H_0 -> H_L, at some sequences. All on the host, in double.
struct DepthSpectrum {
  std::int64_t entries = 0;  // N, of one sequence's state
  Stretches raw;             // of Φ
  Stretches normalised;      // of the final norm after Φ; undefined tensors if not asked for
  at::Tensor growth;         // (E, B) ln of ‖H_L‖/‖H_0‖
  at::Tensor step_stretch;   // (E, B, L) ln s_1 of each step
  /// (E, B, L) μ₂(D_l − I) of each step. Its sum tends to the integral of the field's logarithmic
  /// norm along depth-time, which bounds ln s_1 of a flow.
  at::Tensor step_log_norm;
  at::Tensor step_rate;  // (E, B, L, min(k, N)) ln R_ii from Φ's right singular vectors
  at::Tensor influence;  // (E, B, T) of each token on the last one; undefined if not asked for
  at::Tensor tong;       // (E, B, T), see TongProcedure; undefined if not asked for
};

/// @param track  composed of operations that autograd differentiates twice. @param steps  L.
/// @param start  (E, B, T, C) H_0. The oversampling asked for is raised where the basis is
/// complete.
DepthSpectrum depth_spectrum(const DepthTrack& track, std::int64_t steps, const at::Tensor& start,
                             const DepthSpectrumOptions& options);

}  // namespace depthgrid
