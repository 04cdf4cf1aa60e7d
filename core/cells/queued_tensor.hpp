#pragma once

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/tensor.h>

namespace depthgrid {

/// at::tensor(values, options), whose copy to a GPU is queued behind the work that was queued
/// before: LibTorch does not wait for it (the driver may, while it stages the copy). The values may
/// be gone after the call, as the driver has read pageable memory when it returns. Pinned memory it
/// reads later: never pass any.
/// @param values  one number (shape ()), or (n).
template <class Values>
at::Tensor queued_tensor(const Values& values, const at::TensorOptions& options) {
  return at::tensor(values, options.device(at::kCPU)).to(options.device(), /*non_blocking=*/true);
}

/// A host tensor in pageable memory on another device, likewise; the same tensor on its own device.
inline at::Tensor queued_copy(const at::Tensor& host, const at::Device& device) {
  return host.to(device, /*non_blocking=*/true);
}

}  // namespace depthgrid
