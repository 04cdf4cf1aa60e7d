#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <ATen/core/Tensor.h>

#include "core/depth/depth_grid.hpp"
#include "models/blocks/decode_block.hpp"
#include "models/blocks/rotary.hpp"
#include "models/context/forward_context.hpp"
#include "models/decode/kv_cache.hpp"
#include "models/decode/skipping_step.hpp"
#include "models/model.hpp"

namespace depthgrid {

/// What earlier tokens have left in one layer.
struct DecodeState {
  KvCache cache = {};           // of a layer that executes every token
  at::Tensor recurrent = {};    // (E, B, N) of a state-space layer after the last token
  SkippingState skipping = {};  // of a layer that may skip tokens
};

/// Runs a model a few tokens at a time, keeping what earlier tokens have left: keys and values of
/// each layer, or the state of its recurrence.
///
/// Weights that depend on depth-time alone (gates, generated blocks, discretised systems) are made
/// once, at the start. Layers that may skip tokens compute and keep those that they execute. Logits
/// are those of Model::logits() over all tokens so far, however these
/// are cut into pieces; sequences of a batch do not see each other. A family that offers no blocks
/// is run over all tokens so far each time: right, and slow.
class Decoder {
 public:
  /// @param model      must outlive this; its parameters must not change meanwhile.
  /// @param execution  of layers that may skip tokens, see skipping_step(); none: as the family
  ///                   decides by itself, a calibrated decider by its fixed threshold.
  /// @param control    of as many tokens as will come, or the same for all; of a family that has no
  ///                   input for it, unread.
  explicit Decoder(const Model& model, std::optional<Execution> execution = {},
                   Control control = {});

  /// The next tokens of every sequence.
  /// @param tokens  (E, B, T) int64, T >= 1; E and B as in the first call.
  /// @return        (E, B, T, C) states before the readout: see Model::readout().
  /// @throws ShapeError if learned positions end before the last token: see room().
  at::Tensor advance(const at::Tensor& tokens);

  /// Tokens of each sequence so far.
  std::int64_t length() const noexcept { return length_; }

  /// Tokens that may still come; learned positions bound it, other ones do not.
  std::int64_t room() const;

  /// Forgets all tokens, not the weights.
  void restart();

  /// Depth steps that are decoded block by block, those of a flow among them; 0 where the family
  /// offers no blocks.
  std::int64_t steps() const noexcept { return static_cast<std::int64_t>(blocks_.size()); }

  /// Tokens whose keys and values one of these steps keeps, zero where it does not attend: (E·B).
  std::vector<std::int64_t> lengths(std::int64_t step) const;
  /// Which of the tokens of the last advance() a step has executed: (E, B, T) bool; undefined for
  /// one that never skips.
  const at::Tensor& executed(std::int64_t step) const {
    return states_.at(static_cast<std::size_t>(step)).skipping.executed;
  }
  /// Bytes of all caches and recurrent states.
  std::int64_t bytes() const;

 private:
  /// Of the next tokens; undefined where positions are not rotary.
  RotaryAngles angles(std::int64_t tokens, const at::Tensor& like);

  const Model& model_;
  DepthGrid grid_;
  std::vector<DecodeBlock> blocks_;
  Execution execution_;
  Control control_;
  std::vector<DecodeState> states_;  // one a step
  RotaryAngles angles_;              // of positions 0, 1, …, more than were asked for
  at::Tensor tokens_;                // (E, B, T) all so far, where there are no blocks
  std::int64_t length_ = 0;
  std::int64_t rows_ = 0;  // E·B of the tokens so far
};

}  // namespace depthgrid
