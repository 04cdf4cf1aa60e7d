#pragma once

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

#include "core/depth/vector_field.hpp"

namespace depthgrid {

/// Tolerances of an adaptive integration.
struct AdaptiveOptions {
  double rtol = 1e-6;
  double atol = 1e-8;
  std::int64_t max_steps = 1000;  // attempted
  double min_step = 1e-8;         // of depth-time
  std::vector<double> at = {};    // τ in [0, 1] of which the states are kept, ascending
};

/// How an integration ended. The numbers are those of the store.
enum class SolveStatus : std::uint8_t { Done = 0, MaxSteps = 1, MinStep = 2, NonFinite = 3 };

/// What one cell's integration took.
struct SolveCost {
  std::int64_t evaluations = 0;  // 2 + 6 (accepted + rejected)
  std::int64_t accepted = 0;
  std::int64_t rejected = 0;
  SolveStatus status = SolveStatus::Done;
  double reached = 1;  // τ up to which the state is sound; NaN if it is not known
};

struct AdaptiveSolution {
  at::Tensor x;                 // (E, B, T, C) at τ = 1; a cell that ended early: where it stood
  std::vector<SolveCost> cost;  // (E)
  /// (E, B, T, C) at each of AdaptiveOptions::at, by dense output: they change neither steps nor x.
  /// NaN in a cell that ended before.
  std::vector<at::Tensor> states;
};

/// dx/dτ = f(x, τ) from τ = 0 to 1 by Dormand and Prince's pair of orders 5 and 4 with a PI
/// controller. For diagnostics: the grid depends on the data, and steps chosen by an error over all
/// tokens let later tokens touch earlier ones to the order of the tolerance.
///
/// Each cell chooses its own steps; a cell that is done, or cannot go on, stands still while the
/// others finish, so that its numbers are those it has alone. The error of a step is the largest
/// over the batch of the RMS of e/(atol + rtol max(|x|, |x'|)) over a sequence.
/// @param x0  (E, B, T, C) double.
/// Source: Hairer, Norsett & Wanner (1993), Solving ODEs I, sections II.4 and II.5 (with their
/// program's constants: safety 0.9, β = 0.04, factors 1/5 to 10).
AdaptiveSolution adaptive_solve(const VectorField& field, const at::Tensor& x0,
                                const AdaptiveOptions& options);

}  // namespace depthgrid
