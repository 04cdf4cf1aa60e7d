#include "models/blocks/ssm_stability.hpp"

#include <limits>

#include <ATen/TensorOperators.h>
#include <ATen/ops/amax.h>
#include <ATen/ops/linalg_eigvals.h>
#include <ATen/ops/where.h>

namespace depthgrid {

at::Tensor spectral_radius(const at::Tensor& transition) {
  const at::Tensor host = transition.detach().cpu().to(at::kDouble);
  if (host.dim() == 3) return at::amax(host.abs(), -1);
  const at::Tensor finite = host.isfinite().flatten(2).all(-1);  // eigvals refuses others
  const at::Tensor sound = at::where(finite.unsqueeze(-1).unsqueeze(-1), host, 0.0);
  const at::Tensor radius = at::amax(at::linalg_eigvals(sound).abs(), -1);
  return at::where(finite, radius, std::numeric_limits<double>::quiet_NaN());
}

at::Tensor memory_horizon(const at::Tensor& radius) {
  const double never = std::numeric_limits<double>::infinity();
  return at::where(radius.lt(1), -1 / radius.log(), never);
}

}  // namespace depthgrid
