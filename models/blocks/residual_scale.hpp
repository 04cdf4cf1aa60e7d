#pragma once

#include "core/depth/depth_grid.hpp"
#include "core/train/optimizer/parameter_layout.hpp"
#include "models/context/forward_context.hpp"
#include "models/options/model_options.hpp"

namespace depthgrid {

/// Residual scale and nodes of a step-indexed family: the source of its grid.
class ResidualScale {
 public:
  /// Parameter residual.scale (1) or (L) if the scale is learned.
  ResidualScale(ParameterSource& source, const ModelOptions& o);

  /// Nodes i/m or (i-1)/m, or one constant time; jittered in training if configured, with draws
  /// keyed by (model seed, step). m is L unless the depth is solved in other steps (DepthSolver),
  /// which then have the length L Δt / m. @throws Error if jitter finds no seeds in the context.
  DepthGrid grid(const ModelOptions& o, const ForwardContext& context) const;

 private:
  at::Tensor h_;         // (E, 1) or (E, L) float32
  at::Tensor t_;         // (E, m), without jitter; undefined while parameters are only counted
  at::Tensor constant_;  // (E, 1) bool: time stands still
  std::int64_t steps_ = 0;
  double layers_per_step_ = 1;
};

}  // namespace depthgrid
