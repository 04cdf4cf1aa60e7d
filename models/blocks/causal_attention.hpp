#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>

#include "models/blocks/rotary.hpp"
#include "models/context/forward_context.hpp"
#include "models/ops/packed_attention.hpp"
#include "models/options/model_options.hpp"

namespace depthgrid {

/// Causal multi-head self-attention over projected queries, keys and values; cells fold into the
/// batch, where nothing mixes.
///
/// Scores, softmax and averages are computed in float32 also when the projections are bf16: on CPUs
/// without matrix units that is faster, and everywhere more exact.
/// @param qkv    (E, B, T, 3C): queries, keys, values, each H heads of C/H channels.
/// @param layer  index of the depth step; keys the dropout draws.
/// @param own    angles of the T tokens of each sequence; undefined: those of 0 ... T - 1.
/// @return       (E, B, T, C)
/// Source: Vaswani et al. (2017), eq. 1; rotary positions: Su et al. (2021), arXiv 2104.09864,
/// eq. 34.
at::Tensor causal_attention(const ModelOptions& o, const at::Tensor& qkv, std::int64_t layer,
                            const ForwardContext& context, const RotaryAngles& own = {});

/// Whether attention is to be written out: asked for, or needed for dropout of its weights.
bool explicit_attention(const ModelOptions& o);

/// Angles position * base^(-2c/D) of each pair of channels (c, c + D/2), (E, T, D/2) of the dtype
/// of `like`, or `own` as such tables, (E, B, T, D/2); undefined ones where positions are not
/// rotary.
RotaryTables rotary_tables(const ModelOptions& o, std::int64_t tokens,
                           const at::TensorOptions& like, const RotaryAngles& own = {});

}  // namespace depthgrid
