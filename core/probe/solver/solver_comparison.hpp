#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include <ATen/core/Tensor.h>

#include "core/depth/vector_field.hpp"
#include "core/probe/solver/adaptive_solve.hpp"

namespace depthgrid {

/// Integrations that are compared. Names: kSolverMethodNames.
enum class SolverMethod : std::uint8_t {
  EulerM,   // the model's m steps
  Euler2M,  // twice as many
  Rk4,      // classical, m + 1 steps: on a grid that has no node in common with the model's
  Dopri5    // adaptive
};

/// @throws Error naming the known methods.
SolverMethod solver_method(std::string_view word);

/// An initial value problem to compare them on.
struct SolverProblem {
  const VectorField& field;
  std::function<at::Tensor(const at::Tensor& x, std::int64_t steps)> euler;
  at::Tensor start;        // (E, B, T, C) double
  std::int64_t steps = 1;  // m
};

/// One method on one cell. Norms are Frobenius norms over the batch; NaN over a norm of 0.
struct MethodResult {
  double of_state = 0;         // ‖H − H*‖/‖H*‖
  double of_displacement = 0;  // ‖H − H*‖/‖H* − H(0)‖
  double order = 0;  // log2 of the error's ratio to that with half the step; NaN if adaptive
  SolveCost cost;
};

/// Where the methods end: a result for each cell, and the states.
struct MethodRun {
  at::Tensor end;  // (E, B, T, C)
  std::vector<MethodResult> cells;
};

/// Runs each method and measures it against `reference`, H* at τ = 1. Where an error with half the
/// step is below rtol of the state, the order is that of the method's own differences under
/// refinement; where those are as small as rounding (1e-13 of the state), it is NaN.
std::vector<MethodRun> compare_solvers(const SolverProblem& problem, const at::Tensor& reference,
                                       const std::vector<SolverMethod>& methods,
                                       const AdaptiveOptions& tolerances);

/// Frobenius norm of each cell's states. @param x  (E, ...).
std::vector<double> cell_norms(const at::Tensor& x);

/// Whether the steps of a depth discretise a field. Values of the flag `solver_continuous`.
enum class Continuity : std::uint8_t { Undecided, Continuous, Not };

/// rk4 may be so far from the solution, over the displacement, and has to show such an order.
constexpr double kContinuousDistance = 0.01, kContinuousOrder = 3;

/// Continuous if both hold for rk4, on its grid between the model's nodes; undecided where they are
/// not measured: the reference did not arrive, or the error is rounding, which has no order.
Continuity continuity(const MethodResult& rk4);

/// The same beside a negative control, where rk4 must not converge: what passes for continuous
/// there has shown nothing, and leaves a field that passes undecided.
Continuity continuity(const MethodResult& rk4, const MethodResult& control);

/// How far `end` is from the reference, over the displacement, by cell; NaN over nothing, and for
/// what is not finite.
std::vector<double> over_displacement(const at::Tensor& end, const at::Tensor& reference,
                                      const at::Tensor& start);

/// Whether other solvers would do: values of the flag `solver_invariant`. The model's own steps may
/// be so far from the solution, over the displacement. It says nothing of smoothness: a field that
/// is too strong for m steps is continuous all the same.
enum class Invariance : std::uint8_t { Undecided, Invariant, Not };
constexpr double kInvariantDistance = 0.1;

/// @param of_displacement  by the model's own method and steps. Undecided where nothing was
///                         measured.
Invariance invariance(double of_displacement);

}  // namespace depthgrid
