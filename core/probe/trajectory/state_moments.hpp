#pragma once

#include <cstdint>
#include <memory>

#include <ATen/core/Tensor.h>

#include "core/probe/trajectory/debiased_cka.hpp"

namespace depthgrid {

/// Second moments of the states of one cell over all tokens, at each depth and between depths.
class StateMoments {
 public:
  virtual ~StateMoments() = default;

  /// @param x  (L + 1, T, C) double, finite, on any device: the states of T further tokens
  virtual void add(const at::Tensor& x) = 0;

  /// (L + 1, k, k): by depth a matrix whose eigenvalues, apart from zeros, are the squared singular
  /// values of the matrix of tokens less their mean. k is the smaller of tokens and channels.
  virtual at::Tensor scatters() const = 0;

  /// Between all depths, on the host; see debiased_cka(). Shifts of the states do not change it.
  virtual GramSums gram_sums() const = 0;
};

/// Sums over channels (FeatureMoments); with fewer tokens than channels over tokens (TokenGrams);
/// where sums over channels between all pairs of depths would take more than half a gibibyte, the
/// states themselves (StoredStates).
/// @param depths  L + 1
/// @param tokens  that add() will see in all
/// @param pairs   gram_sums() will be asked for
std::unique_ptr<StateMoments> make_state_moments(std::int64_t depths, std::int64_t tokens,
                                                 std::int64_t channels, bool pairs);

}  // namespace depthgrid
