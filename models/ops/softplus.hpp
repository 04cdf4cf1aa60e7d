#pragma once

#include <ATen/core/Tensor.h>

namespace depthgrid {

/// log(1 + exp(x)), elementwise, any shape; float32 or float64. Meant for parameters and the small
/// outputs of depth-time networks: computed element by element on the CPU, because at::softplus
/// handles the vectorised tail differently, so that a cell's bits would depend on its neighbours.
at::Tensor softplus(const at::Tensor& x);

/// The same of states, of which there are many: float32 in vector registers on the CPU, equal to
/// softplus() up to rounding.
at::Tensor softplus_of_states(const at::Tensor& x);

}  // namespace depthgrid
