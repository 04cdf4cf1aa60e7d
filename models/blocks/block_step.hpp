#pragma once

#include <ATen/core/Tensor.h>

#include "models/blocks/block_body.hpp"
#include "models/blocks/decode_block.hpp"
#include "models/options/model_options.hpp"

namespace depthgrid {

/// F of a block over new tokens, as in BlockField, with an attention that keeps earlier ones.
/// @param x      (E, B, T, C). @param h  (E) step length.
/// @param state  of the state-space layer, (E, B, N); read and written if the block has one.
at::Tensor block_step(const ModelOptions& o, const DecodeBlock& block, const at::Tensor& x,
                      const at::Tensor& h, const Attend& attend, at::Tensor* state);

}  // namespace depthgrid
