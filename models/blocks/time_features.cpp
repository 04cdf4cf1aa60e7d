#include "models/blocks/time_features.hpp"

#include <numbers>
#include <vector>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/linalg_matrix_rank.h>

#include "core/cells/queued_tensor.hpp"

namespace depthgrid {
namespace {

/// (E, 1, K) angular frequencies.
at::Tensor frequencies(const TimeOptions& o, const at::TensorOptions& wide) {
  if (o.kind == FeatureKind::Fourier) {
    return (at::arange(1, o.frequencies + 1, wide) * (2 * std::numbers::pi)).view({1, 1, -1});
  }
  const at::Tensor exponent =
      at::arange(o.frequencies, wide) * (-1.0 / static_cast<double>(o.frequencies));
  const at::Tensor base = queued_tensor(o.base, wide).view({-1, 1, 1});
  return queued_tensor(o.t_scale, wide).view({-1, 1, 1}) * base.pow(exponent);
}

at::Tensor in_double(const TimeOptions& o, const at::Tensor& t) {
  const at::NoGradGuard no_grad;
  const at::Tensor time = t.detach().to(at::kDouble).unsqueeze(-1);  // (E, L, 1)
  const at::Tensor angle = time * frequencies(o, time.options());
  std::vector<at::Tensor> parts = {angle.sin(), angle.cos()};
  if (o.include_t) parts.push_back(time);
  return at::cat(parts, -1);
}

}  // namespace

at::Tensor time_features(const TimeOptions& o, const at::Tensor& t) {
  return in_double(o, t).to(t.scalar_type() == at::kDouble ? at::kDouble : at::kFloat);
}

std::int64_t time_feature_rank(const TimeOptions& o, const at::Tensor& t, std::int64_t e) {
  return at::linalg_matrix_rank(in_double(o, t)[e], 1e-9, false).item<std::int64_t>();
}

}  // namespace depthgrid
