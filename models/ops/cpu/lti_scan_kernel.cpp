#include "models/ops/cpu/lti_scan_kernel.hpp"

#define DEPTHGRID_PLAIN_LOOPS
#define DEPTHGRID_KERNELS "models/ops/cpu/lti_scan_kernel.inc"
#include "core/base/for_each_isa.inc"

namespace depthgrid {

void diagonal_scan(ScanOrder order, const float* a, const float* u, float* h, std::int64_t tokens,
                   std::int64_t states, Isa isa) {
  DEPTHGRID_CALL(isa, diagonal, order, a, u, h, tokens, states);
}
void diagonal_scan(ScanOrder order, const double* a, const double* u, double* h,
                   std::int64_t tokens, std::int64_t states, Isa isa) {
  DEPTHGRID_CALL(isa, diagonal, order, a, u, h, tokens, states);
}
void diagonal_scan_gradient(const float* l, const float* h, float* da, std::int64_t tokens,
                            std::int64_t states, Isa isa) {
  DEPTHGRID_CALL(isa, gradient, l, h, da, tokens, states);
}
void diagonal_scan_gradient(const double* l, const double* h, double* da, std::int64_t tokens,
                            std::int64_t states, Isa isa) {
  DEPTHGRID_CALL(isa, gradient, l, h, da, tokens, states);
}
void dense_scan(ScanOrder order, const float* columns, const float* u, float* h,
                std::int64_t tokens, std::int64_t states, Isa isa) {
  DEPTHGRID_CALL(isa, dense, order, columns, u, h, tokens, states);
}
void dense_scan(ScanOrder order, const double* columns, const double* u, double* h,
                std::int64_t tokens, std::int64_t states, Isa isa) {
  DEPTHGRID_CALL(isa, dense, order, columns, u, h, tokens, states);
}

}  // namespace depthgrid
