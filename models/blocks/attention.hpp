#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>

#include "models/context/forward_context.hpp"
#include "models/ops/packed_attention.hpp"
#include "models/options/model_options.hpp"

namespace depthgrid {

/// Rotations of consecutive absolute positions with each cell's base: computed once for all layers.
struct RotaryAngles {
  at::Tensor cosine, sine;  // (E, 1, 1, T, D/2), or (E, B, 1, T, D/2) if sequences differ
};

/// Angle position · base^(−2c/D) of channel pair c at the positions first … first + tokens − 1.
/// @param like  gives dtype and device. Angles are computed in float64.
/// Source: Su et al. (2021), arXiv 2104.09864, eq. 34.
RotaryAngles rotary_angles(const ModelOptions& o, std::int64_t first, std::int64_t tokens,
                           const at::Tensor& like);

/// Selects positions. @param all  (E, 1, 1, T, D/2), or undefined.
/// @param places  (E, B, k) int64, indices into the T. @return (E, B, 1, k, D/2), contiguous
RotaryAngles at_places(const RotaryAngles& all, const at::Tensor& places);

/// Rotates each pair of channels (c, c + D/2). @param x  (E·B, H, T, D). @return the same shape.
at::Tensor rotate(const RotaryAngles& angles, const at::Tensor& x);

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

/// Causal multi-head self-attention over projected queries, keys and values; cells fold into the
/// batch dimension, where nothing mixes.
///
/// Scores, softmax and averages are computed in float32 even if the projections are bf16: faster on
/// CPUs without matrix units, and more exact everywhere.
/// @param qkv    (E, B, T, 3C): queries, keys, values, each H heads of C/H channels.
/// @param layer  index of the depth step; keys the dropout draws.
/// @param own    angles of each sequence's T tokens; undefined: those of positions 0 ... T - 1.
/// @return       (E, B, T, C)
/// Source: Vaswani et al. (2017), eq. 1; rotary positions: Su et al. (2021), arXiv 2104.09864,
/// eq. 34.
at::Tensor causal_attention(const ModelOptions& o, const at::Tensor& qkv, std::int64_t layer,
                            const ForwardContext& context, const RotaryAngles& own = {});

/// Whether to use written_attention(): configured, or needed for dropout of attention weights.
bool explicit_attention(const ModelOptions& o);

/// Cosines and sines of position * base^(-2c/D) for each pair of channels (c, c + D/2), (E, T, D/2)
/// in the dtype of `like`, or those of `own`, (E, B, T, D/2); undefined if positions are not
/// rotary.
RotaryTables rotary_tables(const ModelOptions& o, std::int64_t tokens,
                           const at::TensorOptions& like, const RotaryAngles& own = {});

}  // namespace depthgrid
