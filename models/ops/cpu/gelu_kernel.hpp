#pragma once

#include <cstdint>

#include "core/base/isa.hpp"

namespace depthgrid {

/// The two forms of GELU (Hendrycks and Gimpel 2016): x times a distribution function s of x.
///   Erf:  the normal distribution, 1 - erfc(x / sqrt 2) / 2;
///   Tanh: s = 1 / (1 + exp(-2u)) with u = sqrt(2 / pi) (x + 0.044715 x^3), since
///         1 + tanh(u) = 2 s.
enum class GeluForm : std::uint8_t { Erf, Tanh };

/// y_i = gelu(x_i).
///
/// An element's bits depend on its value only, never on its position: vector tails use the same
/// instructions. Exponential and upper tail are polynomials of relative error below 2e-7;
/// arithmetic is in float, for bfloat16 rounded once.
void gelu_forward(GeluForm form, const float* x, float* y, std::int64_t count,
                  Isa isa = isa_in_use());
void gelu_forward(GeluForm form, const std::uint16_t* x, std::uint16_t* y, std::int64_t count,
                  Isa isa = isa_in_use());  // bfloat16

/// dx_i = dy_i gelu'(x_i), recomputed from x.
void gelu_backward(GeluForm form, const float* x, const float* dy, float* dx, std::int64_t count,
                   Isa isa = isa_in_use());
void gelu_backward(GeluForm form, const std::uint16_t* x, const std::uint16_t* dy,
                   std::uint16_t* dx, std::int64_t count, Isa isa = isa_in_use());

}  // namespace depthgrid
