#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include <ATen/core/Tensor.h>

#include "core/depth/depth_method.hpp"
#include "core/depth/stepper.hpp"

namespace depthgrid {

/// How the gradient through the steps of a depth is computed.
enum class GradientMode : std::uint8_t {
  Plain,       // everything that the backward pass reads is kept
  Checkpoint,  // some states are kept, the steps between them are taken again: the same bits
  Reversible,  // the last state is kept; each step is undone (a method that can be)
  Adjoint,     // the last state is kept; the equation is solved backwards: an approximation
};

/// A mode with its number of states.
struct GradientPlan {
  GradientMode mode = GradientMode::Plain;
  std::int64_t slots = 1;  // states that `Checkpoint` keeps, of each run of steps
};

/// Error of the first state after all steps are undone, relative to its norm, up to which gradients
/// are taken for those of the forward pass.
inline constexpr double kUndoneBound = 1e-3;

/// That error of each cell. @param x0, undone  (E, ...). @return (E) double, on the device
at::Tensor undone_error(const at::Tensor& x0, const at::Tensor& undone);

/// The steps of a method whose backward pass computes again what a plain one would keep.
///
/// Without autograd, and for a plain plan, it is DepthIntegrator. Otherwise a solve is one node of
/// the graph, which holds field and context until its backward pass:
///
/// - checkpoint: treeverse (treeverse.hpp). Forward m evaluations of a step, backward
///   advances(m, s) - (m - 1) without and m with a tape. Every gradient has the bits of a plain
///   pass.
/// - reversible: Stepper::before(). Backward m evaluations without and m + 1 with a tape. The
///   states are those of the forward pass up to rounding, which undoing may amplify: a cell whose
///   first state comes back with an error above kUndoneBound gets gradients of NaN, not wrong ones.
/// - adjoint: the state and a = dL/dH are integrated backwards by the same tableau, dH/dt = f,
///   da/dt = -(df/dH)^T a, dL/dp = -(df/dp)^T a, without the states of the forward pass. An
///   approximation, whose error falls with the step length. Chen et al. (2018), arXiv 1806.07366.
///
/// What a field decided in the forward pass (FieldValue::decided) is kept, not decided anew.
class RecomputedDepth final : public DepthMethod {
 public:
  /// @param method   must outlive this.
  /// @param context  kept alive as long as the graph is: what the field refers to.
  /// @throws Error if the method has no such gradient.
  RecomputedDepth(const Stepper& method, GradientPlan plan, std::shared_ptr<const void> context);

  /// @throws Error as DepthIntegrator, and if the field is not owned by a FieldPtr.
  at::Tensor solve(const VectorField& field, const DepthGrid& grid, const at::Tensor& x0,
                   const Control& u, const DepthPass& pass = {}) const override;

  const Stepper* stepper() const override { return &method_; }

 private:
  const Stepper& method_;
  GradientPlan plan_;
  std::shared_ptr<const void> context_;
};

}  // namespace depthgrid
