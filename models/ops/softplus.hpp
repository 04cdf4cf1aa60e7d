#pragma once

#include <ATen/core/Tensor.h>

namespace depthgrid {

/// log(1 + exp(x)), elementwise, any shape; float32 or float64. For the small outputs of networks
/// of depth-time: on the CPU element by element, because at::softplus handles the vectorised tail
/// differently, so a cell's bits would depend on its neighbours.
at::Tensor softplus(const at::Tensor& x);

}  // namespace depthgrid
