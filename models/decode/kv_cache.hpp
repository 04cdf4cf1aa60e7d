#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>

#include "models/blocks/attention.hpp"
#include "models/options/model_options.hpp"

namespace depthgrid {

/// Keys and values of the tokens executed by one layer, for R rows that execute the same tokens.
///
/// Keys are stored rotated by their absolute positions, so tokens may be left out: a slot does not
/// record its position. Memory grows by doubling.
class KvCache {
 public:
  /// Appends tokens and attends from each to all slots up to its own.
  /// @param qkv     (E, B, T, 3C) with E·B = R.
  /// @param angles  of the T tokens; undefined if positions are not rotary.
  /// @return        (E, B, T, C), float if qkv is bfloat16.
  /// Source: Vaswani et al. (2017), eq. 1.
  at::Tensor attend(const ModelOptions& o, const at::Tensor& qkv, const RotaryAngles& angles);

  /// Slots in use per row.
  std::int64_t length() const noexcept { return length_; }

  /// Bytes of the slots in use, keys and values.
  std::int64_t bytes() const;

 private:
  /// Reserves space for `tokens` more in each of R rows. @throws ShapeError if R has changed.
  void reserve(std::int64_t rows, std::int64_t heads, std::int64_t channels, std::int64_t tokens,
               const at::TensorOptions& like);
  /// One token per row, in float on the CPU: one kernel instead of some forty operations.
  at::Tensor attend_token(const ModelOptions& o, const at::Tensor& qkv, const RotaryAngles& angles);

  at::Tensor keys_, values_;  // (R, H, capacity, D)
  std::int64_t length_ = 0;
};

}  // namespace depthgrid
