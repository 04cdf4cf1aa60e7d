#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include "core/depth/depth_grid.hpp"
#include "models/blocks/attention.hpp"
#include "models/blocks/decode_block.hpp"
#include "models/context/forward_context.hpp"
#include "models/decode/kv_cache.hpp"
#include "models/decode/skipping_step.hpp"
#include "models/model.hpp"

namespace depthgrid {

/// State of one layer after the tokens so far.
struct DecodeState {
  KvCache cache = {};           // layers that execute every token
  at::Tensor recurrent = {};    // (E, B, N) state-space layers, after the last token
  SkippingState skipping = {};  // layers that may skip tokens
};

/// One evaluation of a field in a pass over the depth.
struct DecodeEvaluation {
  DecodeBlock block;
  DecodeState state;
};
/// By depth step and evaluation within the step.
using DecodeEvaluations = std::map<std::pair<std::int64_t, std::int64_t>, DecodeEvaluation>;

/// Runs a model a few tokens at a time, caching each layer's keys and values, or the state of its
/// recurrence.
///
/// Weights that depend only on depth-time (gates, generated blocks, discretised systems) are
/// computed once, at the start or when a method first evaluates a flow there. Each evaluation of a
/// field has a cache of its own. Layers that may skip tokens compute and cache only the executed
/// ones. Logits equal those of Model::logits() over all tokens so far, however these were split;
/// sequences of a batch do not see each other. A family that offers no blocks is run over all
/// tokens so far each time: correct, but slow.
class Decoder {
 public:
  /// @param model      must outlive this; its parameters must not change during that time.
  /// @param execution  of layers that may skip tokens, see skipping_step(); none: the family's
  ///                   default, for a calibrated decider its fixed threshold.
  /// @param control    covers as many tokens as will come, or is the same for all; undefined: the
  ///                   model's own; not read if the model has no input for it.
  /// @throws Error if the family offers blocks, but not one per step.
  explicit Decoder(const Model& model, std::optional<Execution> execution = {},
                   Control control = {});

  /// Feeds the next tokens of every sequence.
  /// @param tokens  (E, B, T) int64, T >= 1; E and B as in the first call.
  /// @return        (E, B, T, C) states before the readout: see Model::readout().
  /// @throws ShapeError if learned positions end before the last token: see remaining().
  at::Tensor advance(const at::Tensor& tokens);

  /// Tokens of each sequence so far.
  std::int64_t length() const noexcept { return length_; }

  /// Number of tokens that may still follow; only learned positions limit it.
  std::int64_t remaining() const;

  /// Forgets all tokens, but keeps the weights.
  void restart();

  /// Depth steps that are decoded block by block, including those of a flow; 0 if the family offers
  /// no blocks.
  std::int64_t steps() const noexcept { return steps_; }

  /// Number of tokens in a step's cache, zero if it has no attention: (E·B).
  std::vector<std::int64_t> lengths(std::int64_t step) const;
  /// Tokens of the last advance() executed by a step: (E, B, T) bool; undefined if it never skips.
  const at::Tensor& executed(std::int64_t step) const {
    return evaluations_.at({step, 0}).state.skipping.executed;
  }
  /// Bytes of all caches and recurrent states.
  std::int64_t bytes() const;

 private:
  /// Angles of the next tokens; undefined if positions are not rotary.
  RotaryAngles angles(std::int64_t tokens, const at::Tensor& like);
  /// Takes states of tokens, or of a prefix, through the depth. @param u  of these tokens.
  at::Tensor step(const at::Tensor& x, const Control& u);

  const Model& model_;
  ForwardContext context_;              // of evaluation
  std::vector<DepthSegment> segments_;  // methods and grids; their fields are not used
  std::int64_t steps_ = 0;              // 0: the family offers no blocks
  Execution execution_;
  Control control_;
  bool prefixed_ = false;   // vectors of the signal come before the text
  std::int64_t ahead_ = 0;  // their number
  DecodeEvaluations evaluations_;
  RotaryAngles angles_;      // of positions 0, 1, …, more than used so far
  at::Tensor tokens_;        // (E, B, T) all so far, if there are no blocks
  std::int64_t length_ = 0;  // of the text
  std::int64_t rows_ = 0;    // E·B of the tokens so far
};

}  // namespace depthgrid
