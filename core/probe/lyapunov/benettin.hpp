#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/depth/tableau.hpp"

namespace depthgrid {

/// One step of a system in n dimensions: advances the state x (n), and with its derivative there
/// the tangent vectors (rows of n each).
using TangentStep = std::function<void(std::span<double> x, std::span<double> tangents)>;

/// How long a system is followed.
struct BenettinOptions {
  std::int64_t steps = 0;      // over which rates are averaged
  std::int64_t transient = 0;  // steps before, which only align the vectors
  std::int64_t interval = 1;   // steps from one orthonormalisation to the next
  double time = 1;             // duration of a step
};

/// Exponents of an iterated map or of a flow.
struct AsymptoticExponents {
  std::vector<double> rate;  // (k) per unit time, in the order of the basis; NaN: not resolved
  bool resolved = true;      // false: the interval is too long for some of them
  std::vector<double> state, basis;  // at the end: go on from here
};

/// Lyapunov exponents by QR: λ_i is the mean of ln R_ii per unit time, where QR are the tangent
/// vectors after each interval; Q goes on.
///
/// Right for long times only: at the finite depth of a network the leading exponent is too low,
/// unless the basis is made of right singular vectors. Within an interval Δ the vectors turn
/// towards the fastest direction: exponents with (λ_1 − λ_i) Δ > ln(1/ε)/2 are lost to rounding and
/// become NaN; so do all when a number overflows.
/// @param x      (n) initial state.
/// @param basis  (k, n) initial vectors, row-major, orthonormal; 1 <= k <= n.
/// @throws Error if sizes do not match or there are no steps.
/// Source: Benettin, Galgani, Giorgilli & Strelcyn (1980), Meccanica 15, 9.
AsymptoticExponents benettin(const TangentStep& step, std::vector<double> x,
                             std::vector<double> basis, const BenettinOptions& options);

/// The first k unit vectors of n dimensions, row-major.
std::vector<double> unit_basis(std::size_t k, std::size_t n);

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
