#include "core/probe/ssm/ssm_probe.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/imag.h>
#include <ATen/ops/real.h>
#include <ATen/ops/zeros.h>

#include "core/base/error.hpp"
#include "core/base/nan.hpp"
#include "core/probe/ssm/transitions.hpp"

namespace depthgrid {

SsmProbe::SsmProbe(const ProbeSubject& subject, ProbeSchedule schedule, std::int64_t batch)
    : subject_(subject), schedule_(std::move(schedule)), batch_(batch) {
  const StateSpaceLayers layers = subject_.state_space();
  if (!layers.transition.defined()) throw Error("the model has no state-space layers");
  discretised_ = layers.delta.defined();
}

void SsmProbe::declare(RecordSink& out) {
  const SeriesAxis depth{.name = "depth", .length = subject_.depth()};
  const SeriesAxis state{.name = "ssm_state", .length = subject_.state_space().transition.size(2)};
  if (discretised_) series_[kDelta] = out.declare({"ssm_delta", {depth, state}});
  series_[kRadius] = out.declare({"ssm_spectral_radius", {depth}});
  series_[kHorizon] = out.declare({"ssm_memory_horizon", {depth}});
  series_[kReal] = out.declare({"ssm_eigenvalue_real", {depth, state}});
  series_[kImag] = out.declare({"ssm_eigenvalue_imag", {depth, state}});
  series_[kNorm] = out.declare({"ssm_state_norm", {depth}});
}

void SsmProbe::measure(std::int64_t /*step*/, RecordSink& out) {
  const at::NoGradGuard no_grad;
  const StateSpaceLayers layers = subject_.state_space();
  const at::Tensor eigenvalues = transition_eigenvalues(layers.transition);
  const at::Tensor radius = spectral_radius(layers.transition);
  if (discretised_) write(kDelta, layers.delta, out);
  write(kRadius, radius, out);
  const at::Tensor horizon = memory_horizon(radius);
  write(kHorizon, horizon.masked_fill(horizon.isinf(), kNaN), out);  // it never falls
  write(kReal, at::real(eigenvalues), out);
  write(kImag, at::imag(eigenvalues), out);
  write(kNorm, state_norms(), out);
}

at::Tensor SsmProbe::state_norms() const {
  const std::int64_t n = subject_.set().sequences(), cells = subject_.cells();
  at::Tensor squares = at::zeros({cells, subject_.depth()}, at::kDouble);
  for (std::int64_t first = 0; first < n; first += batch_) {
    const std::vector<at::Tensor> states =
        subject_.state_space_states(first, std::min(batch_, n - first));
    for (std::size_t l = 0; l < states.size(); ++l) {
      for (std::int64_t e = 0; e < cells; ++e) {  // sequence by sequence: bits must not depend on E
        for (std::int64_t b = 0; b < states[l].size(1); ++b) {
          const at::Tensor one = states[l][e][b].to(at::kDouble).contiguous();
          squares[e][static_cast<std::int64_t>(l)] += one.pow(2).mean().cpu();
        }
      }
    }
  }
  return (squares / static_cast<double>(n)).sqrt();
}

void SsmProbe::write(Series series, const at::Tensor& table, RecordSink& out) const {
  const at::Tensor host = table.to(at::kCPU, at::kDouble).contiguous();
  const std::int64_t row = host[0].numel();
  for (std::int64_t e = 0; e < host.size(0); ++e) {
    out.write(series_[series], static_cast<std::size_t>(e),
              {host.const_data_ptr<double>() + e * row, static_cast<std::size_t>(row)});
  }
}

}  // namespace depthgrid
