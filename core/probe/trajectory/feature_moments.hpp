#pragma once

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

#include "core/probe/trajectory/state_moments.hpp"

namespace depthgrid {

/// Moments as C x C sums: what is kept does not grow with the tokens, and a token costs O(C^2) for
/// each pair of depths. With s_a = sum_i x_ai and q_ai = |x_ai|^2,
///   tr(K_a K_b)  = |sum_i x_ai x_bi'|^2 - sum_i q_ai q_bi,
///   (K_a 1)_i    = x_ai . s_a - q_ai,
/// so that all sums over pairs of tokens follow from sums over tokens.
class FeatureMoments final : public StateMoments {
 public:
  /// @param pairs  between depths too; otherwise gram_sums() must not be called
  explicit FeatureMoments(bool pairs) : pairs_(pairs) {}

  void add(const at::Tensor& x) override;
  at::Tensor scatters() const override;
  GramSums gram_sums() const override;

 private:
  void begin(const at::Tensor& x);

  bool pairs_;
  std::int64_t tokens_ = 0;
  at::Tensor shift_;                  // (D, 1, C) about the mean: keeps the sums small
  at::Tensor sum_;                    // (D, C) s_a, of the shifted states, as all below
  std::vector<at::Tensor> products_;  // (C, C) sum_i x_ai x_bi' for a <= b, or for a = b only
  at::Tensor squares_;                // (D) sum_i q_ai
  at::Tensor quartic_;                // (D, D) sum_i q_ai q_bi
  at::Tensor weighted_;               // (D, C, D) sum_i x_ai q_bi
};

}  // namespace depthgrid
