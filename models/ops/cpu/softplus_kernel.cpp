#include "models/ops/cpu/softplus_kernel.hpp"

#define DEPTHGRID_KERNELS "models/ops/cpu/softplus_kernel.inc"
#include "core/base/for_each_isa.inc"

namespace depthgrid {

void softplus_forward(const float* x, float* y, std::int64_t count, Isa isa) {
  DEPTHGRID_CALL(isa, forward, x, y, count);
}

void softplus_backward(const float* x, const float* dy, float* dx, std::int64_t count, Isa isa) {
  DEPTHGRID_CALL(isa, backward, x, dy, dx, count);
}

}  // namespace depthgrid
