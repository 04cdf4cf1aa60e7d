#pragma once

#include <vector>

#include <ATen/core/Tensor.h>

#include "core/probe/trajectory/state_moments.hpp"

namespace depthgrid {

/// Moments as n x n matrices of inner products of the tokens less their mean: cheaper and smaller
/// than C x C sums when there are fewer tokens than channels. Keeps all states.
class TokenGrams final : public StateMoments {
 public:
  void add(const at::Tensor& x) override { states_.push_back(x); }
  at::Tensor scatters() const override;
  GramSums gram_sums() const override;

 private:
  std::vector<at::Tensor> states_;  // (D, T, C) each
};

}  // namespace depthgrid
