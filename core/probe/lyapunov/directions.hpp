#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include <ATen/core/Tensor.h>

namespace depthgrid {

// Directions in the space of states: (E, B, M, N) double on the host, M directions of every cell
// and sequence as rows, N = entries of one sequence's state.

/// Where random directions come from: numbers keyed by these and by the sequence, never by other
/// cells, so that the draws of a training stay as they are.
struct DirectionDraw {
  std::uint64_t seed = 0;
  std::string_view use;             // "lyapunov/basis": draws of one use are independent of others
  std::int64_t first_sequence = 0;  // of the tensor's, among all sequences
};

/// Standard normal numbers, the same for all cells. @return (E, B, count, N)
at::Tensor normal_directions(at::IntArrayRef state, std::int64_t count, const DirectionDraw& draw);

/// Applies a linear map of states, (E, B, ...) -> (E, B, ...), to every direction in turn.
/// @param state  sizes of a state. @param rows  (E, B, M, N). @return (E, B, M, N)
at::Tensor each_direction(const std::function<at::Tensor(const at::Tensor&)>& linear,
                          at::IntArrayRef state, const at::Tensor& rows);

/// Entries of one sequence's state.
std::int64_t state_entries(at::IntArrayRef state);

/// rowsᵀ = Qᵀ R of the directions of one sequence: `q` (M, N) orthonormal rows, `r` (M, M) upper
/// triangular. Householder, in memory of its own, so that the bits do not depend on neighbours.
/// @param rows  (M, N) double, finite, M <= N.
struct RowsQr {
  at::Tensor q, r;
};
RowsQr qr_of_rows(const at::Tensor& rows);

/// Whether all entries are finite: LAPACK may never return from others.
bool all_finite(const at::Tensor& x);

}  // namespace depthgrid
