#include "worker/session/stability_watch.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <ATen/TensorOperators.h>
#include <ATen/ops/isfinite.h>

#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/probe/ssm/transitions.hpp"

namespace depthgrid {
namespace {

/// Transitions are float32: exp(0−) may come out an ulp above one.
constexpr double kRounding = 1e-6;

}  // namespace

StabilityWatch::StabilityWatch(const Model& model, const ModelOptions& o)
    : model_(model),
      bounded_(!o.ssm.dense && o.ssm.discretisation != Discretisation::None &&
               o.modulation.gate != GateKind::Identity),
      warned_(static_cast<std::size_t>(o.cells), false) {}

std::vector<std::pair<std::size_t, double>> StabilityWatch::check() {
  std::vector<std::pair<std::size_t, double>> news;
  const at::Tensor transitions = model_.family().transitions();
  if (!transitions.defined()) return news;
  radii_ = spectral_radius(transitions).amax(1);
  const double* radius = radii_.const_data_ptr<double>();
  for (std::size_t e = 0; e < warned_.size(); ++e) {
    if (bounded_ && radius[e] > 1 + kRounding) {
      throw Error(
          fmt::format("state-space layer of cell {}: spectral radius {} of a diagonal "
                      "transition that decays by construction",
                      e, radius[e]));
    }
    const bool forgets = radius[e] < 1;
    if (!forgets && !warned_[e] && std::isfinite(radius[e])) news.emplace_back(e, radius[e]);
    warned_[e] = !forgets;
  }
  return news;
}

void StabilityWatch::log() const {
  if (!radii_.defined()) return;
  const at::Tensor radii = radii_.masked_select(at::isfinite(radii_));
  if (radii.numel() == 0) return;
  const double most = radii.max().item<double>();
  depthgrid::log(
      most < 1 ? LogLevel::Info : LogLevel::Warning,
      fmt::format("state-space layers: largest spectral radius {:.6f} … {:.6f} over cells, "
                  "memory of at most {:.4g} tokens{}",
                  radii.min().item<double>(), most, memory_horizon(radii).max().item<double>(),
                  most < 1 ? "" : ": some recurrence does not forget"));
}

void StabilityService::check(std::int64_t step) {
  for (const auto& [e, radius] : watch_.check()) {
    if (!job_.running(e)) continue;
    recorder_.cell(e).event(
        step, EventKind::Warning, radius,
        fmt::format("state-space layer: spectral radius {:.6f} at some depth: its "
                    "recurrence does not forget",
                    radius));
  }
}

}  // namespace depthgrid
