#pragma once

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

#include "core/train/optimizer/arena.hpp"

namespace depthgrid {

/// The parameters of an arena that are averages of what training sees (ParameterSpec::average).
///
/// A step's gradient of such a parameter is the mean of what the step saw, over all rows,
/// micro-batches and ranks, since gradients are summed over these. The average is the plain mean
/// over the first 100 steps and then an exponential one: v += max(0.01, 1 / step) (seen - v).
class AverageSlots {
 public:
  /// @param arena  must outlive this.
  explicit AverageSlots(Arena& arena);

  bool empty() const noexcept { return slots_.empty(); }

  /// What the step saw; to be read before gradients are zeroed.
  /// @return  a tensor (E, n) for each average.
  std::vector<at::Tensor> seen() const;

  /// Moves the averages. @param step  from 1. @param seen  as of seen().
  /// @param scale   (E) by which gradients are too large.
  /// @param moves   (E) 0: the cell keeps its bits.
  void update(std::int64_t step, const std::vector<at::Tensor>& seen,
              const std::vector<double>& scale, const std::vector<std::uint8_t>& moves) const;

 private:
  Arena& arena_;
  std::vector<ParameterSlot> slots_;
};

}  // namespace depthgrid
