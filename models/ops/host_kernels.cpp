#include "models/ops/host_kernels.hpp"

#include <utility>

namespace depthgrid {
namespace {

thread_local bool kernels_are_off = false;

}  // namespace

bool on_host(const at::Tensor& x) {
  return x.device().is_cpu();
}

bool host_kernels_serve(const at::Tensor& x) {
  return on_host(x) && !kernels_are_off;
}

WithoutHostKernels::WithoutHostKernels(bool active)
    : before_(std::exchange(kernels_are_off, kernels_are_off || active)) {}

WithoutHostKernels::~WithoutHostKernels() {
  kernels_are_off = before_;
}

}  // namespace depthgrid
