#pragma once

#include <memory>
#include <vector>

#include "core/depth/depth_grid.hpp"
#include "core/depth/depth_method.hpp"
#include "core/depth/tableau.hpp"
#include "core/depth/vector_field.hpp"

namespace depthgrid {

/// A run of steps that one method takes over one field. Runs lie one behind the other; the nodes of
/// each may go by a time of its own.
struct DepthSegment {
  std::unique_ptr<const DepthMethod> method;
  DepthGrid grid;
  FieldPtr field;
};

/// The grid's own steps under a Runge-Kutta method. @param method  must outlive the segment.
DepthSegment fixed_run(const Tableau& method, DepthGrid grid, FieldPtr field);

/// A depth that is one run of Euler's steps.
std::vector<DepthSegment> euler_run(DepthGrid grid, FieldPtr field);

}  // namespace depthgrid
