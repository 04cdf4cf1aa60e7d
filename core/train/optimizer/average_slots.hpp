#pragma once

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

#include "core/train/optimizer/arena.hpp"

namespace depthgrid {

/// The parameters of an arena that are running averages of training (ParameterSpec::average).
///
/// The gradient of such a parameter is the step's mean observation over all rows, micro-batches and
/// ranks, as gradients are summed over these. The average is a plain mean over the first 100 steps
/// and exponential afterwards: v += max(0.01, 1 / step) (seen - v).
class AverageSlots {
 public:
  /// @param arena  must outlive this.
  explicit AverageSlots(Arena& arena);

  /// Observations of the step; read them before gradients are zeroed.
  /// @return  a tensor (E, n) for each average.
  std::vector<at::Tensor> seen() const;

  /// Updates the averages. @param step  from 1. @param seen  result of seen().
  /// @param scale   (E) loss scale to divide out.
  /// @param moves   (E) 0: the cell keeps its bits.
  void update(std::int64_t step, const std::vector<at::Tensor>& seen,
              const std::vector<double>& scale, const std::vector<std::uint8_t>& moves) const;

 private:
  Arena& arena_;
  std::vector<ParameterSlot> slots_;
};

}  // namespace depthgrid
