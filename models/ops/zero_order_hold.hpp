#pragma once

#include <ATen/core/Tensor.h>

namespace depthgrid {

/// Solution of the linear system dh/ds = Z h + v over unit time with constant input:
/// h(1) = transition h(0) + response v.
struct Hold {
  at::Tensor transition;  // exp(Z)
  at::Tensor response;    // φ₁(Z) = Z⁻¹ (exp(Z) − I), also defined for singular Z
};

/// Scalar case, elementwise: e^z and φ₁(z) = (e^z − 1)/z. To avoid cancellation near zero,
/// φ₁' = (e^z − φ₁)/z is summed as a series for |z| < 0.1. Computed in float64, returned in the
/// dtype of z; on the CPU element by element, so that bits do not depend on an element's position.
/// @param z         any shape, float32 or float64.
/// @param composed  use ATen's operations, as always on devices other than the CPU.
Hold zero_order_hold(const at::Tensor& z, bool composed = false);

/// Matrix case: exp and φ₁ together, the upper blocks of the exponential of the augmented matrix
/// [[Z, I], [0, 0]], without an inverse: a Taylor polynomial of degree 8 at Z/2⁸, then eight times
/// φ₁(2Z) = (e^Z + I) φ₁(Z)/2, e^2Z = (e^Z)². The number of products is fixed, so the host never
/// waits for the device. Relative error below 1e-10 for ‖Z‖₁ < 50, 1e-5 for ‖Z‖₁ < 200.
/// Computed in float64, returned in the dtype of z. Differentiable by autograd.
/// @param z  (..., N, N)
/// Source: Higham (2008), Functions of Matrices, section 10.7.4 (augmented matrix), 10.3 (scaling).
Hold matrix_zero_order_hold(const at::Tensor& z);

}  // namespace depthgrid
