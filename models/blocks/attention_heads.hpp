#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>

#include "models/blocks/rotary.hpp"
#include "models/context/forward_context.hpp"
#include "models/options/model_options.hpp"

namespace depthgrid {

/// Queries, keys and values of some tokens, (R, H, T, D) each with R = E·B; views of a projection
/// where nothing was rotated.
struct Heads {
  at::Tensor q, k, v;
};

/// In float32 at least, also where the projections are bf16; queries and keys are rotated.
/// @param qkv     (E, B, T, 3C). @param angles  of the T tokens; undefined: none.
Heads split_heads(const ModelOptions& o, const at::Tensor& qkv, const RotaryAngles& angles);

/// Puts the heads of each token beside each other again.
/// @param mixed  (R, H, T, D). @param like  (E, B, T, ·), for its first sizes. @return (E, B, T, C)
at::Tensor join_heads(const at::Tensor& mixed, const at::Tensor& like);

/// Softmax attention written out, with dropout of its weights.
/// @param hidden  bool, against (R, H, T, T): keys that a query must not read; never all of a row.
/// @param layer   keys the draws.
/// @return        (R, H, T, D)
/// Source: Vaswani et al. (2017), eq. 1.
at::Tensor written_attention(const ModelOptions& o, const Heads& heads, const at::Tensor& hidden,
                             std::int64_t layer, const ForwardContext& context);

}  // namespace depthgrid
