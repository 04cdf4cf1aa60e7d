#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>

#include "core/depth/vector_field.hpp"

namespace depthgrid {

/// The part of a model's depth whose steps discretise one field, as an initial value problem
/// dH/dτ = f(H, τ) from τ = 0 to 1, in float64. Without gradients; nothing mixes cells.
class ContinuousDepth {
 public:
  virtual ~ContinuousDepth() = default;

  /// m, the steps that the model takes through it.
  virtual std::int64_t steps() const = 0;

  /// f at any (E) depth-times in [0, 1]; it reads neither the step's length nor its index.
  virtual const VectorField& field() const = 0;

  /// H(0) of sequences first ... first + count - 1 of the probe set. @return (E, count, T, C)
  /// double
  virtual at::Tensor start(std::int64_t first, std::int64_t count) const = 0;

  /// H(1) by the model's own method and steps. @param x  H(0).
  virtual at::Tensor own(const at::Tensor& x) const = 0;

  /// H(1) by `steps` Euler steps of equal length. With m of them, and if the model steps by Euler's
  /// method, these are the model's own: at its nodes, and with its sequential sublayers, which
  /// differ from f by terms of the order of the step. @param x  H(0).
  virtual at::Tensor euler(const at::Tensor& x, std::int64_t steps) const = 0;

  /// The state before the readout, given H(1). @return the same shape.
  virtual at::Tensor finish(const at::Tensor& x) const = 0;

  /// Final norm and head. @param x  (E, B, T, C) of finish(). @return (E, B, T, V) double
  virtual at::Tensor logits(const at::Tensor& x) const = 0;
};

}  // namespace depthgrid
