#pragma once

#include <cstdint>

#include "core/base/isa.hpp"

namespace depthgrid {

/// y_i = log(1 + exp(x_i)), to a relative error of 4e-7 above x = -87 and 1e-38 below.
///
/// An element's bits depend on its value only, never on its position; NaN stays NaN.
void softplus_forward(const float* x, float* y, std::int64_t count, Isa isa = isa_in_use());

/// dx_i = dy_i / (1 + exp(-x_i)).
void softplus_backward(const float* x, const float* dy, float* dx, std::int64_t count,
                       Isa isa = isa_in_use());

}  // namespace depthgrid
