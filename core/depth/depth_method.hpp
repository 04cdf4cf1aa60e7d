#pragma once

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

#include "core/depth/depth_grid.hpp"
#include "core/depth/vector_field.hpp"

namespace depthgrid {

class Observer;

/// How the hidden state is carried along a grid over one field.
///
/// DepthIntegrator takes the grid's steps as they are. A method that chooses its own (with a step
/// controller) or keeps less for the gradient (slots of checkpoints) stands beside it with what it
/// needs for that; whoever makes a DepthSegment chooses, and nothing else knows.
class DepthMethod {
 public:
  virtual ~DepthMethod() = default;

  /// @param x0     (E, B, T, C) state at the beginning of the grid.
  /// @param watch  told of each step when they want this training step; may be empty.
  /// @return       (E, B, T, C) state after the grid's last step.
  /// @throws Error if the method cannot run this field or this grid.
  virtual at::Tensor solve(const VectorField& field, const DepthGrid& grid, const at::Tensor& x0,
                           const Control& u, const std::vector<Observer*>& watch = {},
                           std::int64_t train_step = 0) const = 0;
};

}  // namespace depthgrid
