#pragma once

#include <ATen/core/Tensor.h>

#include "core/depth/vector_field.hpp"
#include "models/blocks/block_weights.hpp"
#include "models/context/forward_context.hpp"
#include "models/options/model_options.hpp"

namespace depthgrid {

/// Which keys a query may read in a layer that skips tokens: those executed up to itself, and
/// itself, so that no row is empty. @param executed (E, B, T) bool. @return (E, B, T, T) bool
at::Tensor visible_keys(const at::Tensor& executed);

/// Self-attention in which executed tokens read executed tokens only.
/// @param qkv   (E, B, T, 3C). @param keys  (E, B, T, T) bool, as of visible_keys().
/// @return      (E, B, T, C); rows of tokens that are not executed have no meaning.
at::Tensor masked_attention(const ModelOptions& o, const at::Tensor& qkv, const at::Tensor& keys,
                            std::int64_t layer, const ForwardContext& context);

/// F of the block, as BlockField has it, for a layer that executes some tokens: skipped ones give
/// neither queries nor keys nor values. All rows are computed; the caller drops the others.
at::Tensor masked_block(const ModelOptions& o, const BlockWeights& w, const at::Tensor& x,
                        const DepthPoint& at, const at::Tensor& executed,
                        const ForwardContext& context);

}  // namespace depthgrid
