#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <ATen/core/Tensor.h>

#include "core/depth/depth_grid.hpp"
#include "core/depth/vector_field.hpp"

namespace depthgrid {

class Observer;

/// Advances the hidden state along a grid over one field.
///
/// DepthIntegrator takes the grid's steps as they are. A method that chooses its own steps (with a
/// step controller) or keeps less for the gradient (checkpoint slots) is another implementation;
/// only the code that makes a DepthSegment depends on the choice.
class DepthMethod {
 public:
  virtual ~DepthMethod() = default;

  /// @param x0     (E, B, T, C) state at the beginning of the grid.
  /// @param watch  notified of each step if they observe this training step; may be empty.
  /// @return       (E, B, T, C) state after the grid's last step.
  /// @throws Error if the method cannot run this field or this grid.
  virtual at::Tensor solve(const VectorField& field, const DepthGrid& grid, const at::Tensor& x0,
                           const Control& u, const std::vector<Observer*>& watch = {},
                           std::int64_t train_step = 0) const = 0;
};

/// A run of steps that one method takes over one field. Runs follow one another; the nodes of each
/// may use a time of their own.
struct DepthSegment {
  std::unique_ptr<const DepthMethod> method;
  DepthGrid grid;
  FieldPtr field;
};

}  // namespace depthgrid
