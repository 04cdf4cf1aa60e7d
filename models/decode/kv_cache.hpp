#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>

#include "models/blocks/rotary.hpp"
#include "models/options/model_options.hpp"

namespace depthgrid {

/// Keys and values of the tokens that one layer has executed, for R rows that execute the same.
///
/// Keys are kept rotated by their absolute positions, so that tokens may be left out: a slot knows
/// nothing of the position that it came from. Memory grows by doubling.
class KvCache {
 public:
  /// Adds tokens behind those that are there, and attends from each to all slots up to its own.
  /// @param qkv     (E, B, T, 3C) with E·B = R.
  /// @param angles  of the T tokens; undefined where positions are not rotary.
  /// @return        (E, B, T, C), float where qkv is bfloat16.
  /// Source: Vaswani et al. (2017), eq. 1.
  at::Tensor attend(const ModelOptions& o, const at::Tensor& qkv, const RotaryAngles& angles);

  std::int64_t rows() const { return keys_.defined() ? keys_.size(0) : 0; }

  /// Slots in use of each row.
  std::int64_t length() const noexcept { return length_; }

  /// Bytes of the slots in use, keys and values together.
  std::int64_t bytes() const;

 private:
  /// Room for `tokens` more of R rows. @throws ShapeError if R has changed.
  void reserve(std::int64_t rows, std::int64_t heads, std::int64_t channels, std::int64_t tokens,
               const at::TensorOptions& like);
  /// One token of each row in float on the CPU: a kernel instead of some forty operations.
  at::Tensor attend_token(const ModelOptions& o, const at::Tensor& qkv, const RotaryAngles& angles);

  at::Tensor keys_, values_;  // (R, H, capacity, D)
  std::int64_t length_ = 0;
};

}  // namespace depthgrid
