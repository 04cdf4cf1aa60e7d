#pragma once

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

#include "core/depth/vector_field.hpp"
#include "models/blocks/attention.hpp"
#include "models/blocks/decode_block.hpp"
#include "models/context/forward_context.hpp"
#include "models/decode/kv_cache.hpp"
#include "models/options/model_options.hpp"

namespace depthgrid {

/// State of a layer that may skip tokens. Each sequence executes different tokens and has its own
/// cache.
struct SkippingState {
  std::vector<KvCache> rows = {};  // (E·B) keys and values of executed tokens
  at::Tensor memory = {};          // the router's memory of earlier tokens
  at::Tensor earlier = {};         // (E, B, n) logits of all tokens, only for running TopK
  at::Tensor executed = {};        // (E, B, T) bool: which of the newest tokens were executed
};

/// F over new tokens of a layer that may skip tokens: the layer decides and computes only the
/// executed ones. A skipped token gets zeros and leaves no key or value; positions are those of the
/// text.
/// @param x          (E, B, T, C). @param first  position of the first of the T tokens.
/// @param angles     of the T positions; undefined if positions are not rotary.
/// @param execution  student, random, skip_all or forced (masks of the whole text).
/// @throws Error for other modes: they rank a whole text, or need a score from after the block.
/// Source: third study, section 4.
at::Tensor skipping_step(const ModelOptions& o, const DecodeBlock& block, const at::Tensor& x,
                         const DepthPoint& at, const RotaryAngles& angles,
                         const Execution& execution, std::int64_t first, SkippingState& state);

}  // namespace depthgrid
