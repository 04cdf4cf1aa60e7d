#pragma once

#include <ATen/core/Tensor.h>

namespace depthgrid {

/// Whether an operation on `x` may take this program's own kernels for the CPU; else it is composed
/// of LibTorch's operations, which every device has.
bool host_kernels_serve(const at::Tensor& x);

/// Whether `x` lies in the host's memory: there, some of LibTorch's operations round an element by
/// its place in the tensor, so that a cell's bits would depend on its neighbours.
bool on_host(const at::Tensor& x);

/// While one lives, operations of its thread on the CPU are composed as on a GPU: autograd can then
/// differentiate them more than once, and tests run those branches where there is no card. A state
/// of the thread like at::NoGradGuard, and for the same reason: the choice is made deep inside the
/// operations of a model.
class WithoutHostKernels {
 public:
  /// @param active  false: changes nothing.
  explicit WithoutHostKernels(bool active = true);
  ~WithoutHostKernels();
  WithoutHostKernels(const WithoutHostKernels&) = delete;
  WithoutHostKernels& operator=(const WithoutHostKernels&) = delete;

 private:
  bool before_;
};

}  // namespace depthgrid
