#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include <ATen/core/Tensor.h>

#include "models/blocks/block_field.hpp"
#include "models/blocks/ssm_mixer.hpp"
#include "models/options/model_options.hpp"

namespace depthgrid {

/// How a layer that may skip tokens decides causally, before it runs.
struct TokenRouting {
  std::int64_t dynamic = 0;  // index among the layers that skip
  /// Logits (E, B, T) from states x (E, B, T, C) before the block; the second argument is the
  /// router's memory of earlier tokens, undefined at the start, and is updated.
  std::function<at::Tensor(const at::Tensor&, at::Tensor&)> logits = {};
  /// Factor (E, B, T) of F, from x; none: 1.
  std::function<at::Tensor(const at::Tensor&)> gate = {};
};

/// The block at one depth step of the evaluation grid, for decoding token by token.
struct DecodeBlock {
  BlockWeights weights;
  std::optional<SsmSystem> ssm = {};  // the second sublayer; none: up and down of `weights`
  std::shared_ptr<const TokenRouting> routing = {};  // none: every token is executed
  /// F of the step over new tokens x (E, B, T, C) under a control signal; none: that of the block.
  std::function<at::Tensor(const at::Tensor&, const Attend&, const Control&)> field = {};
};

/// F of a block over new tokens, as in BlockField, with an attention that keeps earlier ones.
/// @param x      (E, B, T, C). @param h  (E) step length.
/// @param state  of the state-space layer, (E, B, N); read and written if the block has one.
at::Tensor block_step(const ModelOptions& o, const DecodeBlock& block, const at::Tensor& x,
                      const at::Tensor& h, const Attend& attend, at::Tensor* state);

}  // namespace depthgrid
