#include "models/ops/cpu/row_norm_kernel.hpp"

#define DEPTHGRID_PLAIN_LOOPS
#define DEPTHGRID_KERNELS "models/ops/cpu/row_norm_kernel.inc"
#include "core/base/for_each_isa.inc"

namespace depthgrid {

void norm_forward(const NormRows<float>& in, float* y, float* mean, float* inverse, Isa isa) {
  DEPTHGRID_CALL(isa, forward, in, y, mean, inverse);
}
void norm_forward(const NormRows<double>& in, double* y, double* mean, double* inverse, Isa isa) {
  DEPTHGRID_CALL(isa, forward, in, y, mean, inverse);
}
void norm_backward(const NormRows<float>& in, const float* dy, const float* mean,
                   const float* inverse, float* dx, float* dscale, float* dshift, Isa isa) {
  DEPTHGRID_CALL(isa, backward, in, dy, mean, inverse, dx, dscale, dshift);
}
void norm_backward(const NormRows<double>& in, const double* dy, const double* mean,
                   const double* inverse, double* dx, double* dscale, double* dshift, Isa isa) {
  DEPTHGRID_CALL(isa, backward, in, dy, mean, inverse, dx, dscale, dshift);
}
void norm_products(const NormRows<float>& in, const float* w, std::int64_t count, float* out,
                   Isa isa) {
  DEPTHGRID_CALL(isa, products, in, w, count, out);
}
void norm_products(const NormRows<double>& in, const double* w, std::int64_t count, double* out,
                   Isa isa) {
  DEPTHGRID_CALL(isa, products, in, w, count, out);
}

}  // namespace depthgrid
