#include "models/blocks/decode_block.hpp"

namespace depthgrid {

at::Tensor block_step(const ModelOptions& o, const DecodeBlock& block, const at::Tensor& x,
                      const at::Tensor& h, const Attend& attend, at::Tensor* state) {
  return block_body(o, block.weights, x, h, attend, [&](const at::Tensor& normed) {
    return block.ssm ? mix(*block.ssm, normed, state) : feed_forward(o, block.weights, normed);
  });
}

}  // namespace depthgrid
