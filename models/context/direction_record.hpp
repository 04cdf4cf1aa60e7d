#pragma once

#include <vector>

#include <ATen/core/Tensor.h>

namespace depthgrid {

/// The vectors at which regularisers of the Jacobian were taken in a pass, by step of the depth
/// (RegulariserOptions::directed(); (E, B, T, C) each). They carry no gradient: where they are
/// held, the loss is the function that autograd differentiates, as finite differences need it.
struct DirectionRecord {
  bool held = false;  // in: what is recorded is used; else it is recorded
  std::vector<std::vector<at::Tensor>> of_step;
  /// out: ‖J‖₂ or μ₂(J) there, (E, B) each.
  std::vector<std::vector<at::Tensor>> norms;
};

}  // namespace depthgrid
