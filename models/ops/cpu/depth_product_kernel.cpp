#include "models/ops/cpu/depth_product_kernel.hpp"

#define DEPTHGRID_KERNELS "models/ops/cpu/depth_product_kernel.inc"
#include "core/base/for_each_isa.inc"

namespace depthgrid {

void depth_block_forward(const DepthBlock& block, float* y, Isa isa) {
  DEPTHGRID_CALL(isa, forward, block, y);
}

void depth_block_backward(const DepthBlock& block, const DepthBlockGradients& d, Isa isa) {
  DEPTHGRID_CALL(isa, backward, block, d);
}

}  // namespace depthgrid
