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

  /// Nodes i/L or (i-1)/L, or one constant time; jittered in training if configured, with draws
  /// keyed by (model seed, step). @throws Error if jitter finds no seeds in the context.
  DepthGrid grid(const ModelOptions& o, const ForwardContext& context) const;

 private:
  at::Tensor h_;  // (E, 1) or (E, L) float32
  at::Tensor t_;  // (E, L), without jitter; undefined while parameters are only counted
};

}  // namespace depthgrid
