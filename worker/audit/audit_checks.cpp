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

constexpr double kMostSpread = 2;    // nats above ln V that a start may cost without a warning
constexpr double kSampleErrors = 5;  // standard errors of the sample
constexpr double kRounding = 1e-3;
constexpr std::int64_t kTwinRows = 8;
constexpr double kShareOfStart = 0.02;  // of the audit's operations

/// A start on random tokens.
struct FirstLoss {
  double loss = 0;      // as scored
  double expected = 0;  // by the logits, if the target may be any token
  double error = 0;     // standard error of the difference: which targets were drawn
  double uniform = 0;   // ln V
};

FirstLoss first_loss_of(AuditModel& model, std::int64_t rows, std::int64_t tokens) {
  const at::NoGradGuard no_grad;
  const std::int64_t vocabulary = model.options().vocabulary;
  const at::Tensor windows = audit_tokens(vocabulary, {1, rows, tokens + 1}, 31);
  const at::Tensor z = model.logits(windows.narrow(2, 0, tokens), {}).to(at::kDouble);
  const at::Tensor nats = z.logsumexp(-1) - z.mean(-1);
  const auto count = static_cast<double>(rows * tokens);
  return {.loss = model.language().score({windows}).loss.mean(at::kDouble).item<double>(),
          .expected = nats.mean().item<double>(),
          .error = std::sqrt(z.var(-1, false).mean().item<double>() / count),
          .uniform = std::log(static_cast<double>(vocabulary))};
}

}  // namespace

AuditResult check_parameter_count(AuditModels& models) {
  const auto stored = static_cast<double>(layout_of(models.subject(), models.options()).size());
  const auto formula = closed_form_parameters(models.options());
  if (!formula) {
    return {"", AuditVerdict::Undecided, stored, kNaN,
            "no closed form is known for family " + models.options().family};
  }
  return judged(stored == static_cast<double>(*formula), stored, static_cast<double>(*formula),
                "parameters of a cell, against the closed form of its family");
}

AuditResult check_initial_loss(AuditModels& models) {
  FirstLoss first;
  std::string size;
  if (AuditModel* model = models.full()) {
    const std::int64_t rows =
        std::clamp<std::int64_t>(models.affordable(kShareOfStart), 1, models.rows());
    first = first_loss_of(*model, rows, models.tokens());
  } else {
    AuditModel twin = models.twin(kPassTwin, {0});
    first = first_loss_of(twin, kTwinRows, std::min(models.tokens(), kPassTwin.tokens));
    size = " (of the twin)";
  }
  const double spread = first.expected - first.uniform, above = first.loss - first.uniform;
  const std::string note = fmt::format("loss {:.4f}, ln V {:.4f}, spread of the logits {:.4f}{}",
                                       first.loss, first.uniform, spread, size);
  const double allowed = kSampleErrors * first.error + kRounding;
  if (!(std::abs(first.loss - first.expected) <= allowed)) {
    return judged(false, above, spread, note + ": not the loss of a target that nobody knows");
  }
  if (spread <= kMostSpread) return judged(true, above, kMostSpread, note);
  // What a start costs follows from its scheme, width and tying: it may be meant.
  return {"", AuditVerdict::Undecided, above, kMostSpread,
          note + ": this start begins with confident guesses"};
}

std::span<const AuditCheckRow> audit_checks() {
  static constexpr std::array<AuditCheckRow, 13> kChecks = {{
      {"causality", check_causality},
      {"declaration", check_declaration},
      {"batch_independence", check_batch_independence},
      {"parameter_count", check_parameter_count},
      {"gradient_flow", check_gradient_flow},
      {"initial_loss", check_initial_loss},
      {"overfit_batch", check_overfit_batch},
      {"entropy_floor", check_entropy_floor},
      {"fusion", check_fusion},
      {"scores", check_scores},
      {"positions", check_positions},
      {"training_step", check_training_step},
      {"leaves", check_leaves},
  }};
  static_assert(std::ranges::equal(kChecks, kAuditCheckNames, {}, &AuditCheckRow::name));
  return kChecks;
}

}  // namespace depthgrid
