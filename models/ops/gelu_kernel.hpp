#pragma once

#include <cstdint>

namespace depthgrid {

/// y_i = x_i s_i with s = 1 / (1 + exp(-2u)), u = sqrt(2 / pi) (x + 0.044715 x^3): the tanh form of
/// GELU (Hendrycks and Gimpel 2016), since 1 + tanh(u) = 2 s.
///
/// An element's bits depend on its value alone, never on where it stands: a tail takes the same
/// instructions as everything else. The exponential is a polynomial of relative error below 2e-7;
/// arithmetic is in float for bfloat16 as well, rounded once.
void gelu_tanh_forward(const float* x, float* y, std::int64_t count);
void gelu_tanh_forward(const std::uint16_t* x, std::uint16_t* y, std::int64_t count);  // bfloat16

/// dx_i = dy_i (s + 2 x s (1 - s) du/dx), everything computed anew from x.
void gelu_tanh_backward(const float* x, const float* dy, float* dx, std::int64_t count);
void gelu_tanh_backward(const std::uint16_t* x, const std::uint16_t* dy, std::uint16_t* dx,
                        std::int64_t count);

}  // namespace depthgrid
