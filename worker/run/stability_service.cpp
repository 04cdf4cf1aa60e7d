#include "worker/run/stability_service.hpp"

#include <fmt/format.h>

namespace depthgrid {

void StabilityService::look(std::int64_t step) {
  for (const auto& [e, radius] : watch_.look()) {
    if (!job_.running(e)) continue;
    recorder_.cell(e).event(
        step, EventKind::Warning, radius,
        fmt::format("state-space layer: spectral radius {:.6f} at some depth: its "
                    "recurrence does not forget",
                    radius));
  }
}

}  // namespace depthgrid
