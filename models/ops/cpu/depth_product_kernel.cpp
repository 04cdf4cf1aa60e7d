#include "models/ops/cpu/depth_product_kernel.hpp"

#define DEPTHGRID_PLAIN_LOOPS
#define DEPTHGRID_KERNELS "models/ops/cpu/depth_product_kernel.inc"
#include "core/base/for_each_isa.inc"

namespace depthgrid {

void depth_block_forward(const DepthBlock<float>& block, float* y, Isa isa) {
  DEPTHGRID_CALL(isa, forward, block, y);
}
void depth_block_forward(const DepthBlock<double>& block, double* y, Isa isa) {
  DEPTHGRID_CALL(isa, forward, block, y);
}
void depth_block_backward(const DepthBlock<float>& block, const DepthBlockGradients<float>& d,
                          Isa isa) {
  DEPTHGRID_CALL(isa, backward, block, d);
}
void depth_block_backward(const DepthBlock<double>& block, const DepthBlockGradients<double>& d,
                          Isa isa) {
  DEPTHGRID_CALL(isa, backward, block, d);
}

}  // namespace depthgrid
