#include "core/probe/ssm/transitions.hpp"

#include <algorithm>
#include <complex>
#include <limits>
#include <span>

#include <ATen/TensorOperators.h>
#include <ATen/ops/amax.h>
#include <ATen/ops/linalg_eigvals.h>
#include <ATen/ops/where.h>

#include "core/base/nan.hpp"

namespace depthgrid {
namespace {

using Eigenvalue = c10::complex<double>;

bool before(const Eigenvalue& a, const Eigenvalue& b) {
  const double x = std::abs(a), y = std::abs(b);
  if (x != y) return x > y;
  return a.imag() != b.imag() ? a.imag() > b.imag() : a.real() > b.real();
}

}  // namespace

at::Tensor transition_eigenvalues(const at::Tensor& transition) {
  const at::Tensor host = transition.detach().cpu().to(at::kDouble);
  const at::Scalar none = Eigenvalue(kNaN, kNaN);
  if (host.dim() == 3) return at::where(host.isnan(), none, host.to(at::kComplexDouble));
  const at::Tensor finite =
      host.isfinite().flatten(2).all(-1).unsqueeze(-1);  // eigvals refuses others
  const at::Tensor sound = at::where(finite.unsqueeze(-1), host, 0.0);
  const at::Tensor found = at::linalg_eigvals(sound).contiguous();
  const auto n = static_cast<std::size_t>(found.size(2));
  auto* data = found.mutable_data_ptr<Eigenvalue>();
  for (std::int64_t i = 0; i < found.size(0) * found.size(1); ++i, data += n) {
    std::ranges::sort(std::span(data, n), before);
  }
  return at::where(finite, found, none);
}

at::Tensor spectral_radius(const at::Tensor& transition) {
  return at::amax(transition_eigenvalues(transition).abs(), -1);
}

at::Tensor memory_horizon(const at::Tensor& radius) {
  const double never = std::numeric_limits<double>::infinity();
  const at::Tensor horizon = at::where(radius.lt(1), -1 / radius.log(), never);
  return at::where(radius.isnan(), kNaN, horizon);
}

}  // namespace depthgrid
