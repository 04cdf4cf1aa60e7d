#pragma once

#include <ATen/core/Tensor.h>

#include "core/depth/vector_field.hpp"
#include "models/blocks/block_weights.hpp"
#include "models/context/forward_context.hpp"
#include "models/options/model_options.hpp"

namespace depthgrid {

/// Keys visible to a query in a layer that skips tokens: executed ones up to itself, and itself, so
/// that no row is empty. @param executed (E, B, T) bool. @return (E, B, T, T) bool
at::Tensor visible_keys(const at::Tensor& executed);

/// Self-attention in which executed tokens read executed tokens only.
/// @param qkv   (E, B, T, 3C). @param keys  (E, B, T, T) bool, as of visible_keys().
/// @return      (E, B, T, C); rows of skipped tokens are meaningless.
at::Tensor masked_attention(const ModelOptions& o, const at::Tensor& qkv, const at::Tensor& keys,
                            std::int64_t layer, const ForwardContext& context);

/// F of the block, as in BlockField, if only some tokens are executed: skipped ones provide no
/// queries, keys or values. All rows are computed; the caller discards those of skipped tokens.
at::Tensor masked_block(const ModelOptions& o, const BlockWeights& w, const at::Tensor& x,
                        const DepthPoint& at, const at::Tensor& executed,
                        const ForwardContext& context);

}  // namespace depthgrid
