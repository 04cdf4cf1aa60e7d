#pragma once

#include <cstddef>
#include <vector>

#include <ATen/core/Tensor.h>

#include "core/depth/depth_grid.hpp"
#include "core/depth/step_tape.hpp"
#include "core/depth/tableau.hpp"
#include "core/depth/vector_field.hpp"

namespace depthgrid {

/// A solve whose equation is to be integrated backwards together with its adjoint.
struct AdjointProblem {
  const Tableau& method;
  const VectorField& field;
  const DepthGrid& grid;
  const Control& u;
  const std::vector<std::vector<std::size_t>>& places;  // what each step captures
};

/// dL/dx at the grid's beginning; adds dL/dp of what the field captures to `captured`. Optimise,
/// then discretise: the error against the gradient of the discrete solve is of the method's order
/// in the step length.
/// @param x  (E, B, T, C) the state at the grid's end. @param a  dL/dx there.
at::Tensor solve_adjoint(const AdjointProblem& p, at::Tensor x, at::Tensor a,
                         CapturedGradients& captured);

}  // namespace depthgrid
