#include "core/train/optimizer/block_sums.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define DEPTHGRID_KERNELS "core/train/optimizer/block_sums.inc"
#include "core/base/for_each_isa.inc"

namespace depthgrid {

double sum_of_squares(const float* x, std::int64_t count, Isa isa) {
  return DEPTHGRID_CALL(isa, squares, x, count);
}

double sum_of_partials(const double* from, std::span<const std::int32_t> order, Isa isa) {
  return DEPTHGRID_CALL(isa, partials, from, order.data(), static_cast<std::int64_t>(order.size()));
}

#if defined(__x86_64__)
FlushDenormals::FlushDenormals() noexcept : before_(_mm_getcsr()) {
  _mm_setcsr(before_ | _MM_FLUSH_ZERO_ON | _MM_DENORMALS_ZERO_ON);
}
FlushDenormals::~FlushDenormals() {
  _mm_setcsr(before_);
}
#else
FlushDenormals::FlushDenormals() noexcept : before_(0) {}
FlushDenormals::~FlushDenormals() = default;
#endif

}  // namespace depthgrid
