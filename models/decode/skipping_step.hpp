#pragma once

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

#include "core/depth/vector_field.hpp"
#include "models/blocks/decode_block.hpp"
#include "models/blocks/rotary.hpp"
#include "models/context/forward_context.hpp"
#include "models/decode/kv_cache.hpp"
#include "models/options/model_options.hpp"

namespace depthgrid {

/// What earlier tokens have left in a layer that may skip tokens. Sequences execute different
/// tokens, so each has a cache of its own.
struct SkippingState {
  std::vector<KvCache> rows = {};  // (E·B) keys and values of executed tokens alone
  at::Tensor memory = {};          // what the router keeps of the tokens so far
  at::Tensor earlier = {};         // (E, B, n) logits of all tokens, for running TopK alone
  at::Tensor executed = {};        // (E, B, T) bool: the newest tokens that were executed
};

/// F of a layer that may skip tokens over new ones: the layer decides, and computes the tokens that
/// it executes and no others. A skipped token gets zeros and leaves neither key nor value;
/// positions are those of the text.
/// @param x          (E, B, T, C). @param first  position of the first of the T tokens.
/// @param angles     of the T positions; undefined where positions are not rotary.
/// @param execution  student, random, skip_all or forced (masks of the whole text).
/// @throws Error for other modes: they rank a whole text, or know their score after the block.
/// Source: third study, section 4.
at::Tensor skipping_step(const ModelOptions& o, const DecodeBlock& block, const at::Tensor& x,
                         const DepthPoint& at, const RotaryAngles& angles,
                         const Execution& execution, std::int64_t first, SkippingState& state);

}  // namespace depthgrid
