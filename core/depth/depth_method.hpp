#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <ATen/core/Tensor.h>

#include "core/depth/depth_grid.hpp"
#include "core/depth/vector_field.hpp"

namespace depthgrid {

class Observer;
class Stepper;

/// What a pass over the depth asks for besides the last state.
struct DepthPass {
  std::vector<Observer*> watch = {};  // notified of each step if they observe this training step
  std::int64_t train_step = 0;
  std::vector<at::Tensor>* losses = nullptr;  // out: (E) sums over the steps of FieldValue::losses
};

/// Advances the hidden state along a grid over one field.
///
/// DepthIntegrator takes the grid's steps as they are. A method that chooses its own steps (with a
/// step controller) or keeps less for the gradient (RecomputedDepth) is another implementation;
/// only the code that makes a DepthSegment depends on the choice.
class DepthMethod {
 public:
  virtual ~DepthMethod() = default;

  /// @param x0  (E, B, T, C) state at the beginning of the grid.
  /// @return    (E, B, T, C) state after the grid's last step.
  /// @throws Error if the method cannot run this field or this grid.
  virtual at::Tensor solve(const VectorField& field, const DepthGrid& grid, const at::Tensor& x0,
                           const Control& u, const DepthPass& pass = {}) const = 0;

  /// What takes the steps of a grid; null if the method chooses its own.
  virtual const Stepper* stepper() const { return nullptr; }
};

/// A run of steps that one method takes over one field. Runs follow one another; the nodes of each
/// may use a time of their own.
struct DepthSegment {
  std::unique_ptr<const DepthMethod> method;
  DepthGrid grid;
  FieldPtr field;
  bool flow = false;  // the steps discretise an ordinary differential equation
};

}  // namespace depthgrid
