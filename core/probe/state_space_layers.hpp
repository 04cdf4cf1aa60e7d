#pragma once

#include <ATen/core/Tensor.h>

namespace depthgrid {

/// What the state-space layers of a model are along the sequence, at the nodes of its steps.
struct StateSpaceLayers {
  at::Tensor transition;  // Ā: (E, L, N) diagonal or (E, L, N, N); undefined without such layers
  at::Tensor delta;       // Δ: (E, L, N) in tokens; undefined if they are not discretised
};

}  // namespace depthgrid
