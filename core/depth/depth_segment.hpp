#pragma once

#include <memory>
#include <vector>

#include "core/depth/depth_grid.hpp"
#include "core/depth/depth_method.hpp"
#include "core/depth/tableau.hpp"
#include "core/depth/vector_field.hpp"

namespace depthgrid {

/// A run of steps that one method takes over one field. Runs follow one another; the nodes of each
/// may use a time of their own.
struct DepthSegment {
  std::unique_ptr<const DepthMethod> method;
  DepthGrid grid;
  FieldPtr field;
};

/// The steps of a grid by a Runge-Kutta method. @param method  must outlive the segment.
DepthSegment fixed_run(const Tableau& method, DepthGrid grid, FieldPtr field);

/// A depth that is a single run of Euler steps.
std::vector<DepthSegment> euler_run(DepthGrid grid, FieldPtr field);

}  // namespace depthgrid
