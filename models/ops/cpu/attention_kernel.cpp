#include "models/ops/cpu/attention_kernel.hpp"

#define DEPTHGRID_KERNELS "models/ops/cpu/attention_kernel.inc"
#include "core/base/for_each_isa.inc"

namespace depthgrid {

std::int64_t attention_workspace(std::int64_t tokens, std::int64_t channels) {
  const auto padded = [](std::int64_t n) { return (n + 15) / 16 * 16; };
  return 7 * padded(tokens) * padded(channels) + 2 * padded(tokens) * padded(tokens) +
         8 * padded(channels);
}

void attention_forward(const AttentionHead& head, HeadRows<float> out, float* normaliser,
                       float* workspace, Isa isa) {
  DEPTHGRID_CALL(isa, forward, head, out, normaliser, workspace);
}

void attention_backward(const AttentionHead& head, HeadRows<const float> out,
                        HeadRows<const float> d_out, const float* normaliser, HeadRows<float> dq,
                        HeadRows<float> dk, HeadRows<float> dv, float* workspace, Isa isa) {
  DEPTHGRID_CALL(isa, backward, head, out, d_out, normaliser, dq, dk, dv, workspace);
}

}  // namespace depthgrid
