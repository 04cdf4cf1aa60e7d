#include "models/routing/surprise_gate.hpp"

#include <algorithm>

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/zeros_like.h>

#include "models/blocks/activation.hpp"
#include "models/ops/softplus.hpp"

namespace depthgrid {
namespace {

/// Sums of the last `window` entries of running sums s: s_t - s_(t - window).
at::Tensor window_sums(const at::Tensor& s, std::int64_t window) {
  const std::int64_t tokens = s.size(-1), gone = std::min(window, tokens);
  const at::Tensor before =
      at::cat({at::zeros_like(s.narrow(-1, 0, gone)), s.narrow(-1, 0, tokens - gone)}, -1);
  return s - before;
}

/// d divided by its level, if any. A layer that has never changed a state has level 0.
at::Tensor over(const at::Tensor& d, const at::Tensor& level) {
  if (!level.defined()) return d;
  return d / level.to(d.scalar_type()).clamp_min(1e-12).unsqueeze(-1);
}

/// softplus(a) + softplus(b) in float64: where surprise is small, all gates are about 0.75, and
/// float32 would see ties.
at::Tensor score(const GateSignals& s, const GateScalars& scalars, const at::Tensor& level) {
  const auto exact = [](const at::Tensor& v) { return v.detach().to(at::kDouble); };
  const auto wide = [&](const at::Tensor& v) { return exact(v).unsqueeze(-1); };
  const auto scaled = [&](const at::Tensor& d) { return over(exact(d), level); };
  const at::Tensor ce = scaled(s.d_st) - (scaled(s.d_ch) - (wide(scalars.o_ce) + 1e-10).log());
  const at::Tensor cu = scaled(s.d_st) - wide(scalars.m_cu) * scaled(s.ma);
  return softplus(softplus(wide(scalars.beta_ce)) * ce) +
         softplus(softplus(wide(scalars.beta_cu)) * cu);
}

}  // namespace

at::Tensor mean_square(const at::Tensor& x) {
  return (x * x).sum(-1) / static_cast<double>(x.size(-1));
}

at::Tensor moving_average(const at::Tensor& d, std::int64_t window, bool exclusive) {
  const std::int64_t tokens = d.size(-1);
  const at::Tensor wide = d.detach().to(at::kDouble);
  const at::Tensor sums = window_sums(wide.cumsum(-1), window);
  const at::Tensor counts = at::arange(1, tokens + 1, wide.options()).clamp_max(window);
  const at::Tensor mean = sums / counts;
  if (!exclusive) return mean.to(d.scalar_type());
  const at::Tensor before = mean.narrow(-1, 0, tokens - 1);
  return at::cat({wide.narrow(-1, 0, 1), before}, -1).to(d.scalar_type());
}

GateSignals surprise_gate(const at::Tensor& residual, const at::Tensor& predicted,
                          const GateScalars& scalars, const SurpriseOptions& options) {
  const auto wide = [](const at::Tensor& v) { return v.unsqueeze(-1); };  // (E, 1, 1)
  GateSignals s;
  s.d_st = mean_square(residual);
  s.d_ch = mean_square(residual - predicted);
  s.ma = moving_average(s.d_st, options.window, options.exclusive);
  const auto scaled = [&](const at::Tensor& d) { return over(d, options.level); };
  const at::Tensor surprise = scaled(s.d_st);
  s.ce = surprise - (scaled(s.d_ch) - wide((scalars.o_ce + 1e-10).log()));
  s.cu = surprise - wide(scalars.m_cu) * scaled(s.ma);
  const at::Tensor a = wide(softplus(scalars.beta_ce)) * s.ce;
  const at::Tensor b = wide(softplus(scalars.beta_cu)) * s.cu;
  s.s_ce = logistic(a);
  s.s_cu = logistic(b);
  s.gate = s.s_ce + s.s_cu - s.s_ce * s.s_cu;
  s.score = score(s, scalars, options.level);
  return s;
}

}  // namespace depthgrid
