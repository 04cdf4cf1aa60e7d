#pragma once

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

#include "core/depth/depth_grid.hpp"
#include "models/decode/decode_block.hpp"
#include "models/decode/kv_cache.hpp"
#include "models/model.hpp"

namespace depthgrid {

/// Runs a model a few tokens at a time, keeping what earlier tokens have left: keys and values of
/// each layer, or the state of its recurrence.
///
/// Weights that depend on depth-time alone (gates, generated blocks, discretised systems) are made
/// once, at the start. Logits are those of Model::logits() over all tokens so far, however these
/// are cut into pieces; sequences of a batch do not see each other. A family that offers no blocks
/// is run over all tokens so far each time: right, and slow.
class Decoder {
 public:
  /// @param model  must outlive this; its parameters must not change meanwhile.
  explicit Decoder(const Model& model);

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

  /// Keys and values, one cache a layer; none where the family offers no blocks.
  const std::vector<KvCache>& caches() const noexcept { return caches_; }
  /// Bytes of all caches and recurrent states.
  std::int64_t bytes() const;

 private:
  const Model& model_;
  DepthGrid grid_;
  std::vector<DecodeBlock> blocks_;
  std::vector<KvCache> caches_;
  std::vector<at::Tensor> states_;  // (E, B, N) of each state-space layer after the last token
  at::Tensor tokens_;               // (E, B, T) all so far, where there are no blocks
  std::int64_t length_ = 0;
};

}  // namespace depthgrid
