#pragma once

#include <ATen/core/Tensor.h>

#include "models/blocks/rotary.hpp"
#include "models/decode/decode_block.hpp"
#include "models/model_options.hpp"

namespace depthgrid {

/// Queries, keys and values of some tokens, (R, H, T, D) each; queries and keys rotated.
struct Heads {
  at::Tensor q, k, v;
};

/// @param qkv     (E, B, T, 3C). @param angles  of the T positions; undefined: none.
/// @return        R = E·B.
Heads split_heads(const ModelOptions& o, const at::Tensor& qkv, const RotaryAngles& angles);

/// F of a block over some tokens, as BlockField has it, with an attention that remembers.
/// @param x      (E, B, T, C). @param h  (E) step length.
/// @param state  of the state-space layer, (E, B, N); read and written where the block has one.
at::Tensor block_step(const ModelOptions& o, const DecodeBlock& block, const at::Tensor& x,
                      const at::Tensor& h, const Attend& attend, at::Tensor* state);

}  // namespace depthgrid
