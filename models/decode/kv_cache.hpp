#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>

namespace depthgrid {

/// Keys and values of the tokens that one layer has executed, for R rows that execute the same.
///
/// Keys come rotated by their absolute positions, so that tokens may be left out: a slot knows
/// nothing of the position that it came from. Memory grows by doubling.
class KvCache {
 public:
  /// Adds tokens behind those that are there. @param k, v  (R, H, T, D).
  void append(const at::Tensor& k, const at::Tensor& v);

  /// Attention of the T tokens of the last append(), each to all slots up to its own.
  /// @param q  (R, H, T, D). @return (R, H, T, D)
  /// Source: Vaswani et al. (2017), eq. 1.
  at::Tensor attend(const at::Tensor& q) const;

  std::int64_t rows() const { return keys_.defined() ? keys_.size(0) : 0; }

  /// Slots in use of each row.
  std::int64_t length() const noexcept { return length_; }

  /// Bytes of the slots in use, keys and values together.
  std::int64_t bytes() const;

 private:
  void reserve(const at::Tensor& like, std::int64_t slots);

  at::Tensor keys_, values_;  // (R, H, capacity, D)
  std::int64_t length_ = 0;
};

}  // namespace depthgrid
