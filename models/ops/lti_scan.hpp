#pragma once

#include <ATen/core/Tensor.h>

namespace depthgrid {

/// How a recurrence is computed.
enum class ScanMethod : std::uint8_t {
  Automatic,  // Kernel on the CPU, Doubling elsewhere
  Kernel,     // token by token in one pass over memory (CPU only)
  Doubling    // log2 T rounds of H[2^k:] += A^(2^k) H[:-2^k] in ATen's operations
};

/// Linear recurrence along the sequence with one transition for all tokens of a cell:
/// h_t = A h_{t−1} + u_t, h_{−1} = 0.
///
/// The gradient is the same recurrence backwards: λ_t = Aᵀ λ_{t+1} + dh_t, du = λ,
/// dA = Σ λ_t h_{t−1}ᵀ. With the kernel, a sequence's numbers depend neither on its neighbours nor
/// on the number of threads; gradients of A are summed over sequences in order.
/// @param transition  A: (E, N) diagonal or (E, N, N) dense.
/// @param u           (E, B, T, N), in the dtype of `transition`: float32 or float64.
/// @return            (E, B, T, N)
/// @throws ShapeError if the dtypes or the numbers of states differ.
at::Tensor lti_scan(const at::Tensor& transition, const at::Tensor& u,
                    ScanMethod method = ScanMethod::Automatic);

}  // namespace depthgrid
