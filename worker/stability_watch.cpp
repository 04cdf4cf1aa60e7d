#include "worker/stability_log.hpp"

#include <fmt/format.h>

#include <ATen/TensorOperators.h>

#include "core/base/log.hpp"
#include "models/blocks/ssm_stability.hpp"

namespace depthgrid {

void log_stability(const Model& model) {
  const at::Tensor transitions = model.family().transitions();
  if (!transitions.defined()) return;
  const at::Tensor radius = spectral_radius(transitions);
  const double largest = radius.max().item<double>();
  log(largest < 1 ? LogLevel::Info : LogLevel::Warning,
      fmt::format("state-space layers: spectral radius {:.6f} … {:.6f} over cells and depths, "
                  "memory of at most {:.4g} tokens{}",
                  radius.min().item<double>(), largest, memory_horizon(radius).max().item<double>(),
                  largest < 1 ? "" : ": some recurrence does not forget"));
}

}  // namespace depthgrid
