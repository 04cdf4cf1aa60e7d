#pragma once

#include <functional>
#include <span>

#include "core/depth/tableau.hpp"
#include "core/probe/lyapunov/benettin.hpp"

namespace depthgrid {

/// An autonomous flow dx/dt = f(x) in n dimensions, with its Jacobian J.
struct SmoothFlow {
  std::function<void(std::span<const double> x, std::span<double> f)> field;
  /// jv = J(x) v
  std::function<void(std::span<const double> x, std::span<const double> v, std::span<double> jv)>
      tangent;
};

/// A step of length h of an explicit Runge-Kutta method, and its exact derivative: the same method
/// on state and tangent vectors together, so that exponents are those of the discrete map.
/// @param method  must outlive the step.
TangentStep runge_kutta_step(const Tableau& method, SmoothFlow flow, double h);

}  // namespace depthgrid
