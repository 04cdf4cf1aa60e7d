#pragma once

#include <ATen/core/Tensor.h>

namespace depthgrid {

/// log(1 + exp(x)), elementwise, any shape; float32 or float64. For the few numbers that a network
/// of depth-time makes: on the CPU element by element, because at::softplus treats the last
/// elements of a vector apart, so that a cell's bits would depend on its neighbours.
at::Tensor softplus(const at::Tensor& x);

}  // namespace depthgrid
