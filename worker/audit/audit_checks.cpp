#include "worker/audit/audit_checks.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>

#include "core/base/nan.hpp"
#include "core/config/axis_labels.hpp"
#include "models/closed_form.hpp"

namespace depthgrid {
namespace {

constexpr double kLossTolerance = 0.3;

double loss_of(AuditModel& model, std::int64_t rows, std::int64_t tokens) {
  const at::NoGradGuard no_grad;
  const at::Tensor windows = audit_tokens(model.options().vocabulary, {1, rows, tokens + 1}, 31);
  return model.language().score({windows}).loss.mean(at::kDouble).item<double>();
}

}  // namespace

AuditResult check_parameter_count(AuditRoom& room) {
  const auto stored = static_cast<double>(layout_of(room.subject(), room.options()).size());
  const auto formula = closed_form_parameters(room.options());
  if (!formula) {
    return {"", AuditVerdict::Undecided, stored, kNaN,
            "no closed form is known for family " + room.options().family};
  }
  return judged(stored == static_cast<double>(*formula), stored, static_cast<double>(*formula),
                "parameters of a cell, against the closed form of its family");
}

AuditResult check_initial_loss(AuditRoom& room) {
  double loss = 0, expected = 0;
  std::string note = "loss {:.4f}, ln V {:.4f}";
  if (AuditModel* model = room.full()) {
    loss = loss_of(*model, room.rows(), room.tokens());
    expected = std::log(static_cast<double>(model->options().vocabulary));
  } else {
    AuditModel twin = room.twin();
    loss = loss_of(twin, 8, std::min(room.tokens(), kPassTwin.tokens));
    expected = std::log(static_cast<double>(twin.options().vocabulary));
    note += " (of the twin)";
  }
  return judged(std::abs(loss - expected) <= kLossTolerance, loss - expected, kLossTolerance,
                fmt::format(fmt::runtime(note), loss, expected));
}

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
