#pragma once

#include <ATen/core/Tensor.h>

#include "models/ops/cpu/gelu_kernel.hpp"

namespace depthgrid {

/// GELU, elementwise, any shape. On the CPU, float and bfloat16 run through one pass forward and
/// one backward (models/ops/cpu/gelu_kernel.hpp), whose result at an element never depends on its
/// place; at::gelu(x, "tanh") rounds its vector tails otherwise. Other types and devices: ATen's
/// operations, which can be differentiated any number of times.
at::Tensor gelu(GeluForm form, const at::Tensor& x);

}  // namespace depthgrid
