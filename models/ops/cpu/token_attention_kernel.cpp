#include "models/ops/cpu/token_attention_kernel.hpp"

#define DEPTHGRID_KERNELS "models/ops/cpu/token_attention_kernel.inc"
#include "core/base/for_each_isa.inc"

namespace depthgrid {

std::int64_t token_attention_workspace(std::int64_t slots, std::int64_t channels) {
  return channels + (slots + 15) / 16 * 16;
}

void token_attention(const TokenHead& head, float* out, float* workspace, Isa isa) {
  DEPTHGRID_CALL(isa, attend, head, out, workspace);
}

}  // namespace depthgrid
