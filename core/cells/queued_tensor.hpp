#pragma once

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/tensor.h>

namespace depthgrid {

/// at::tensor(values, options) without waiting for a GPU: its copy is queued behind the work that
/// was queued before, and the host goes on. The values may be gone after the call: the driver takes
/// its own copy of pageable memory before it returns (CUDA Driver API, "API synchronization
/// behavior", asynchronous copies).
/// @param values  one number (shape ()), or (n).
template <class Values>
at::Tensor queued_tensor(const Values& values, const at::TensorOptions& options) {
  return at::tensor(values, options.device(at::kCPU)).to(options.device(), /*non_blocking=*/true);
}

/// A host tensor on another device, likewise.
inline at::Tensor queued_copy(const at::Tensor& host, const at::Device& device) {
  return host.to(device, /*non_blocking=*/true);
}

}  // namespace depthgrid
