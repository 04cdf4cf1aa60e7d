#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>

#include "worker/audit/audit_checks.hpp"

namespace depthgrid {
namespace {

constexpr double kLossTolerance = 0.3;

double loss_of(AuditModel& model, std::int64_t rows, std::int64_t tokens) {
  const at::NoGradGuard no_grad;
  const at::Tensor windows = audit_tokens(model.options().vocabulary, {1, rows, tokens + 1}, 31);
  return model.language().score({windows}).loss.mean(at::kDouble).item<double>();
}

}  // namespace

AuditResult check_initial_loss(AuditRoom& room) {
  double loss = 0, expected = 0;
  std::string note = "loss {:.4f}, ln V {:.4f}";
  if (AuditModel* model = room.full()) {
    loss = loss_of(*model, room.rows(), room.tokens());
    expected = std::log(static_cast<double>(model->options().vocabulary));
  } else {
    AuditModel twin = room.twin(kPassTwin);
    loss = loss_of(twin, 8, std::min(room.tokens(), kPassTwin.tokens));
    expected = std::log(static_cast<double>(twin.options().vocabulary));
    note += " (of the twin)";
  }
  return judged(std::abs(loss - expected) <= kLossTolerance, loss - expected, kLossTolerance,
                fmt::format(fmt::runtime(note), loss, expected));
}

}  // namespace depthgrid
