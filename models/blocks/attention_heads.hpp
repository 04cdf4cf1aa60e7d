#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>

#include "models/blocks/rotary.hpp"
#include "models/context/forward_context.hpp"
#include "models/options/model_options.hpp"

namespace depthgrid {

/// Queries, keys and values, (R, H, T, D) each, R = E·B; views of the projection unless rotated.
struct Heads {
  at::Tensor q, k, v;
};

/// In float32 at least, even if the projections are bf16; queries and keys are rotated.
/// @param qkv     (E, B, T, 3C). @param angles  of the T tokens; undefined: no rotation.
Heads split_heads(const ModelOptions& o, const at::Tensor& qkv, const RotaryAngles& angles);

/// Concatenates the heads of each token.
/// @param mixed  (R, H, T, D). @param like  (E, B, T, ·), for its first sizes. @return (E, B, T, C)
at::Tensor join_heads(const at::Tensor& mixed, const at::Tensor& like);

/// Softmax attention with explicit scores, for masks and for dropout of its weights.
/// @param hidden  bool, broadcastable to (R, H, T, T): keys that a query must not read; never all.
/// @param layer   keys the draws.
/// @return        (R, H, T, D)
/// Source: Vaswani et al. (2017), eq. 1.
at::Tensor written_attention(const ModelOptions& o, const Heads& heads, const at::Tensor& hidden,
                             std::int64_t layer, const ForwardContext& context);

}  // namespace depthgrid
