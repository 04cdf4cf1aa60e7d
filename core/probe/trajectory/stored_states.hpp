#pragma once

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

#include "core/probe/trajectory/state_moments.hpp"

namespace depthgrid {

/// Moments from the states themselves, kept in single precision on the host: for models so wide and
/// deep that C x C sums between all pairs of depths are larger. One pair of depths is summed up at
/// a time; the numbers are those of FeatureMoments up to rounding.
class StoredStates final : public StateMoments {
 public:
  void add(const at::Tensor& x) override;
  at::Tensor scatters() const override;
  GramSums gram_sums() const override;

 private:
  at::Tensor states_of(std::int64_t depth) const;

  std::vector<at::Tensor> blocks_;  // (D, T, C) float, host; what is probed is computed as float
  at::Device device_ = at::kCPU;    // where sums are made
};

}  // namespace depthgrid
