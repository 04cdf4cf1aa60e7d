#include "core/depth/depth_segment.hpp"

#include <utility>

#include "core/depth/integrator.hpp"

namespace depthgrid {

DepthSegment fixed_run(const Tableau& method, DepthGrid grid, FieldPtr field) {
  return {std::make_unique<DepthIntegrator>(method), std::move(grid), std::move(field)};
}

std::vector<DepthSegment> euler_run(DepthGrid grid, FieldPtr field) {
  std::vector<DepthSegment> whole;
  whole.push_back(fixed_run(kEuler, std::move(grid), std::move(field)));
  return whole;
}

}  // namespace depthgrid
