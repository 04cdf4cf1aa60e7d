#pragma once

#include <cstdint>

#include "core/base/isa.hpp"

namespace depthgrid {

/// Direction of a recurrence over the tokens of one sequence.
enum class ScanOrder : bool { Forward, Backward };

// Each of these processes one sequence (rows: tokens, columns: states), in float or double, in an
// order that does not depend on the number of sequences or threads.

/// h_t = a ⊙ h_{t−1} + u_t (Backward: h_{t+1} in place of h_{t−1}), starting from zero.
/// @param a (states)  @param u, h (tokens, states); h is written.
void diagonal_scan(ScanOrder order, const float* a, const float* u, float* h, std::int64_t tokens,
                   std::int64_t states, Isa isa = isa_in_use());
void diagonal_scan(ScanOrder order, const double* a, const double* u, double* h,
                   std::int64_t tokens, std::int64_t states, Isa isa = isa_in_use());

/// da = Σ_t l_t ⊙ h_{t−1}.  @param l, h (tokens, states)  @param da (states), written.
void diagonal_scan_gradient(const float* l, const float* h, float* da, std::int64_t tokens,
                            std::int64_t states, Isa isa = isa_in_use());
void diagonal_scan_gradient(const double* l, const double* h, double* da, std::int64_t tokens,
                            std::int64_t states, Isa isa = isa_in_use());

/// h_t[n] = Σ_m columns[m][n] h_{t−1}[m] + u_t[n], otherwise as diagonal_scan.
/// @param columns  (states, states): A transposed for a forward scan, A itself for its gradient.
void dense_scan(ScanOrder order, const float* columns, const float* u, float* h,
                std::int64_t tokens, std::int64_t states, Isa isa = isa_in_use());
void dense_scan(ScanOrder order, const double* columns, const double* u, double* h,
                std::int64_t tokens, std::int64_t states, Isa isa = isa_in_use());

}  // namespace depthgrid
