#pragma once

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

namespace depthgrid {

/// Keys and values of the tokens that one layer has executed, for R independent rows (R = E·B).
///
/// Keys come rotated by their absolute positions, so that a row may leave tokens out: a slot knows
/// nothing of the position that it came from. Memory grows by doubling.
class KvCache {
 public:
  /// Adds tokens behind those that are there.
  /// @param k, v  (R, H, T, D).
  /// @param kept  (R, T) bool: tokens that enter; undefined: all.
  void append(const at::Tensor& k, const at::Tensor& v, const at::Tensor& kept = {});

  /// Attention of the T tokens of the last append() to what they may see: of its row, all slots up
  /// to the one of the last token kept at or before its own place.
  /// @param q  (R, H, T, D).
  /// @return   (R, H, T, D); zeros for a token that sees nothing.
  /// Source: Vaswani et al. (2017), eq. 1.
  at::Tensor attend(const at::Tensor& q) const;

  /// Slots in use, one number a row.
  const std::vector<std::int64_t>& lengths() const noexcept { return lengths_; }

  /// Bytes of the slots in use, keys and values together.
  std::int64_t bytes() const;

 private:
  void reserve(const at::Tensor& like, std::int64_t slots);

  at::Tensor keys_, values_;           // (R, H, capacity, D)
  std::vector<std::int64_t> lengths_;  // (R)
  at::Tensor visible_;                 // (R, T) of the last append: slots that each token sees
  std::int64_t longest_ = 0;
  bool uniform_ = true;  // all rows have kept every token
};

}  // namespace depthgrid
