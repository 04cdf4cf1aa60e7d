#include "models/ops/cpu/gelu_kernel.hpp"

#define DEPTHGRID_KERNELS "models/ops/cpu/gelu_kernel.inc"
#include "core/base/for_each_isa.inc"

namespace depthgrid {

void gelu_forward(GeluForm form, const float* x, float* y, std::int64_t count, Isa isa) {
  DEPTHGRID_CALL(isa, forward, form, x, y, count);
}

void gelu_forward(GeluForm form, const std::uint16_t* x, std::uint16_t* y, std::int64_t count,
                  Isa isa) {
  DEPTHGRID_CALL(isa, forward, form, x, y, count);
}

void gelu_backward(GeluForm form, const float* x, const float* dy, float* dx, std::int64_t count,
                   Isa isa) {
  DEPTHGRID_CALL(isa, backward, form, x, dy, dx, count);
}

void gelu_backward(GeluForm form, const std::uint16_t* x, const std::uint16_t* dy,
                   std::uint16_t* dx, std::int64_t count, Isa isa) {
  DEPTHGRID_CALL(isa, backward, form, x, dy, dx, count);
}

}  // namespace depthgrid
