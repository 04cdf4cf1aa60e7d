#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <ATen/TensorOperators.h>

#include "core/base/nan.hpp"
#include "worker/audit/audit_checks.hpp"
#include "worker/audit/audited_mode.hpp"

namespace depthgrid {
namespace {

constexpr double kRowTolerance = 1e-5;
constexpr std::int64_t kSequences = 3;

}  // namespace

AuditResult check_batch_independence(AuditRoom& room) {
  AuditModel* model = room.full();
  if (model == nullptr)
    return unjudged(AuditVerdict::Skipped, kNaN, kRowTolerance, room.too_large());
  const std::int64_t rows = std::min(kSequences, std::max<std::int64_t>(2, room.rows()));
  const at::Tensor tokens = audit_tokens(model->options().vocabulary, {1, rows, room.tokens()}, 23);
  double worst = 0;
  std::string where = fmt::format("{} sequences", rows);
  for (AuditedMode& claim : audited_modes(model->model().family())) {
    const at::Tensor together = model->logits(tokens, claim.context);
    const double scale = std::max(1.0, together.abs().max().item<double>());
    for (std::int64_t r = 0; r < rows; ++r) {
      claim.context.first_row = r;  // draws belong to its place in the batch
      const at::Tensor alone = model->logits(tokens.narrow(1, r, 1), claim.context);
      const double d = largest_difference(together.narrow(1, r, 1), alone) / scale;
      if (d > worst || std::isnan(d)) {
        worst = d;
        if (!(d <= kRowTolerance)) where = claim.name + ": a sequence depends on those beside it";
      }
    }
  }
  return judged(worst <= kRowTolerance, worst, kRowTolerance, where);
}

}  // namespace depthgrid
