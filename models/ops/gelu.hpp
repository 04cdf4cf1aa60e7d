#pragma once

#include <ATen/core/Tensor.h>

#include "models/ops/cpu/gelu_kernel.hpp"

namespace depthgrid {

/// GELU, elementwise, any shape. On the CPU, float and bfloat16 use the kernels of
/// models/ops/cpu/gelu_kernel.hpp, whose result for an element never depends on its position, while
/// at::gelu(x, "tanh") rounds its vector tails differently. Other dtypes and devices use ATen's
/// operations, which can be differentiated any number of times.
at::Tensor gelu(GeluForm form, const at::Tensor& x);

}  // namespace depthgrid
