#pragma once

#include <algorithm>
#include <cmath>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/randn_like.h>

namespace depthgrid::testing {

/// Largest difference between autograd's gradient of (f(x) * weight).sum() and central differences.
/// @param x  float64.
template <class F>
double gradient_error(const F& f, at::Tensor x, double step = 1e-5) {
  x = x.detach().clone().requires_grad_(true);
  const at::Tensor weight = at::randn_like(f(x).detach());
  (f(x) * weight).sum().backward();
  const at::Tensor analytic = x.grad().flatten().clone();
  const at::NoGradGuard no_grad;
  const at::Tensor flat = x.detach().view({-1});
  double worst = 0;
  for (std::int64_t i = 0; i < flat.numel(); ++i) {
    const double was = flat[i].template item<double>();
    flat[i] = was + step;
    const double up = (f(x) * weight).sum().template item<double>();
    flat[i] = was - step;
    const double down = (f(x) * weight).sum().template item<double>();
    flat[i] = was;
    worst = std::max(worst, std::abs((up - down) / (2 * step) - analytic[i].item<double>()));
  }
  return worst;
}

}  // namespace depthgrid::testing
