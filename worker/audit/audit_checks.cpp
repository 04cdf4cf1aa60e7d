#include "worker/audit/audit_checks.hpp"

#include <algorithm>
#include <array>

#include "core/config/axis_labels.hpp"

namespace depthgrid {

std::span<const AuditCheckRow> audit_checks() {
  static constexpr std::array<AuditCheckRow, 9> kChecks = {{
      {"causality", check_causality},
      {"declaration", check_declaration},
      {"batch_independence", check_batch_independence},
      {"parameter_count", check_parameter_count},
      {"gradient_flow", check_gradient_flow},
      {"initial_loss", check_initial_loss},
      {"overfit_batch", check_overfit_batch},
      {"entropy_floor", check_entropy_floor},
      {"fusion", check_fusion},
  }};
  static_assert(std::ranges::equal(kChecks, kAuditCheckNames, {}, &AuditCheckRow::name));
  return kChecks;
}

}  // namespace depthgrid
