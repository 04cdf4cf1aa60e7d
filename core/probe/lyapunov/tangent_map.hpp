#pragma once

#include <functional>

#include <ATen/core/Tensor.h>

namespace depthgrid {

/// A map of the state, (E, B, ...) -> (E, B, ...), that acts on every cell and sequence separately.
using StateMap = std::function<at::Tensor(const at::Tensor&)>;

/// (dy/dx)ᵀ w with a graph, by which it can be differentiated once more in what y reads.
/// @param y  with its graph, which is kept. @param x  a part of it. @param w  as y. @return as x
/// @throws Error if y cannot be differentiated twice.
at::Tensor graph_of_pull_back(const at::Tensor& y, const at::Tensor& x, const at::Tensor& w);

/// The derivative D of a map at one state: D v and Dᵀ w, for every cell and sequence at once.
///
/// Both products share one graph, whatever their number. Dᵀ w is reverse mode. D v is reverse mode
/// twice: g(w) = Dᵀ w is linear in w, so that the transpose of its derivative is D. Nothing is
/// added to the gradient of a parameter. The graph lives as long as the object, at least.
/// Source: Townsend (2017), "A new trick for calculating Jacobian vector products".
class TangentMap {
 public:
  /// @param map  composed of operations that autograd differentiates twice; called once.
  /// @param x    (E, B, ...) where to differentiate.
  /// @throws Error, here or in forward(), if it cannot be differentiated twice.
  TangentMap(const StateMap& map, const at::Tensor& x);

  /// Of a map that has been evaluated. @param y  map(x), with its graph; x requires a gradient.
  TangentMap(at::Tensor x, at::Tensor y);

  /// map(x), without gradients.
  at::Tensor value() const;

  /// D v. @param v  (E, B, ...), cast to the dtype and device of x. @return as v, in those of x
  at::Tensor forward(const at::Tensor& v) const;

  /// Dᵀ w. Shapes as of forward().
  at::Tensor transposed(const at::Tensor& w) const;

  /// Of the states: (E, B, ...).
  at::IntArrayRef sizes() const { return x_.sizes(); }

 private:
  void prepare();

  at::Tensor x_, y_;  // leaf and result
  /// Leaf at 0, and Dᵀ w as its function; the latter is undefined if D = 0.
  at::Tensor w_, pulled_;
};

}  // namespace depthgrid
