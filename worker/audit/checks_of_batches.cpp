#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/where.h>

#include "core/base/nan.hpp"
#include "worker/audit/audit_checks.hpp"
#include "worker/audit/audit_modes.hpp"
#include "worker/audit/audited_pass.hpp"

namespace depthgrid {
namespace {

constexpr double kRowTolerance = 1e-5;
constexpr double kWideRowTolerance = 1e-12;
/// bf16 has 8 bits: a sum of another order may round a factor by 2^-8, in every layer.
constexpr double kMixedRowTolerance = 5e-2;
constexpr std::int64_t kSequences = 17;   // more than the rows of any block of a kernel
constexpr std::int64_t kAlone = 4;        // of them alone too
constexpr std::int64_t kShortBatch = 32;  // tokens
constexpr std::int64_t kFewestPasses = 3, kAllPasses = 100;
constexpr double kShareOfBatches = 0.08;  // of the audit's operations, of a mode at size

/// The largest effect of a sequence's neighbours.
struct Coupling {
  double worst = 0;  // in units of the tolerance
  double value = 0;  // difference relative to the largest logit, or to 1
  std::string where;
};

void note_coupling(Coupling& to, double value, double size, const std::string& where) {
  if (!(size > to.worst) && !std::isnan(size)) return;
  to.worst = size;
  to.value = value;
  to.where = where;
}

/// Training and the default evaluation, which every run has.
bool of_a_run(const AuditedMode& mode) {
  return mode.context.training || mode.name == "evaluation";
}

/// Adds sequences of which something differs, where it should not. @param keep  (B) bool.
void compare_rows(Coupling& to, const AuditedPass& a, const AuditedPass& b, const at::Tensor& keep,
                  const std::string& mode) {
  const std::vector<PassQuantity> before = quantities_of(a, true), after = quantities_of(b, true);
  for (std::size_t i = 0; i < before.size(); ++i) {
    const at::Tensor &x = before[i].values, &y = after[i].values;
    if (!changed_tokens(x, y).any(2).logical_and(keep).any().item<bool>()) continue;
    const at::Tensor row = keep.nonzero().view({-1});
    const double d = largest_difference(x.index_select(1, row), y.index_select(1, row));
    const double scale = std::max(1.0, x.abs().max().item<double>());
    note_coupling(to, d / scale, HUGE_VAL,
                  mode + ": a sequence depends on those beside it, in " + before[i].name);
    return;
  }
}

/// A mode of cells whose sequences all differ. All sequences are replaced whose number has a bit,
/// then those whose number lacks it, bit for bit: any two are distinguished by one of them. The
/// others must keep their bits. A few are run alone. Each bit has another training step.
/// @param most  passes of this mode at most.
void couple(Coupling& to, const AuditModel& model, const AuditedMode& mode, std::int64_t rows,
            std::int64_t tokens, double tolerance, std::int64_t most) {
  const bool main = of_a_run(mode);
  const ModelOptions& o = model.options();
  ForwardContext context = mode.context;
  const std::vector<std::int64_t> sizes = {o.cells, rows, tokens};
  const at::Tensor text = audit_tokens(o.vocabulary, sizes, 23);
  const at::Tensor other = audit_tokens(o.vocabulary, sizes, 24);
  const at::Tensor number = at::arange(rows, at::kLong);
  context.control = audit_control(o, text, 23);
  AuditedPass together;
  for (std::int64_t bit = 0; bit == 0 || (std::int64_t{1} << bit) < rows; ++bit) {
    if (bit > 0 && 3 * (bit + 1) > most) break;
    context.step = audited_step(static_cast<std::size_t>(bit));
    together = audited_pass(model, text, context);
    if (rows < 2) break;
    for (const std::int64_t replaced : {1, 0}) {
      const at::Tensor hit = number.bitwise_right_shift(bit).remainder(2).eq(replaced);
      const AuditedPass beside =
          audited_pass(model, at::where(hit.view({1, -1, 1}), other, text), context);
      compare_rows(to, together, beside, hit.logical_not(), mode.name);
    }
  }
  const double scale = std::max(1.0, together.logits.abs().max().item<double>());
  const std::int64_t picked = main ? std::min(kAlone, rows) : 1;
  for (std::int64_t i = 0; i < picked; ++i) {
    const std::int64_t r = picked == 1 ? rows - 1 : i * (rows - 1) / (picked - 1);
    ForwardContext alone = context;
    alone.first_row = r;  // draws belong to its place in the batch
    if (alone.control.u.defined()) alone.control.u = alone.control.u.narrow(1, r, 1);
    const AuditedPass got = audited_pass(model, text.narrow(1, r, 1), alone, i % 2 == 0);
    const double d = largest_difference(together.logits.narrow(1, r, 1), got.logits) / scale;
    note_coupling(to, d, d / tolerance,
                  mode.name + ": a sequence alone differs from itself in a batch");
  }
}

/// @param every  also the modes that only evaluation offers.
void couple_modes(Coupling& to, const AuditModel& model, std::int64_t rows, std::int64_t tokens,
                  double tolerance, bool every, std::int64_t most = kAllPasses) {
  for (AuditedMode& mode : audited_modes(model.model().family())) {
    if (!every && !of_a_run(mode)) continue;
    steer(model, mode, tokens, kSequences);
    couple(to, model, mode, rows, tokens, tolerance, of_a_run(mode) ? most : kFewestPasses);
  }
}

}  // namespace

AuditResult check_batch_independence(AuditModels& models) {
  Coupling worst;
  const bool mixed = models.subject().mixed;
  std::int64_t rows = 0, window = 0;
  if (AuditModel* model = models.several()) {
    const std::int64_t cells = model->options().cells;
    const double share = models.affordable_rows(kShareOfBatches) / static_cast<double>(cells);
    const auto afford = static_cast<std::int64_t>(share);
    rows = std::clamp<std::int64_t>(
        afford / (2 * kFewestPasses), 2,
        std::min(kSequences, models.most_rows(model->options(), models.tokens()) + 1));
    // Shorter where two sequences of the whole window are too much.
    const double needed = static_cast<double>(2 * (kFewestPasses + 1));
    window = std::clamp<std::int64_t>(
        static_cast<std::int64_t>(static_cast<double>(models.tokens()) * share / needed),
        std::min(kShortBatch, models.tokens()), models.tokens());
    couple_modes(worst, *model, rows, window, mixed ? kMixedRowTolerance : kRowTolerance, false,
                 std::max(kFewestPasses, afford / rows - kAlone));
  }
  const std::int64_t tokens = std::min(models.tokens(), kDeepTwin.tokens);
  const auto twin = [&](Arithmetic arithmetic) {
    return models.twin(kDeepTwin, models.cells(), {arithmetic, true});
  };
  couple_modes(worst, twin(Arithmetic::Float32), kSequences, tokens, kRowTolerance, false);
  couple_modes(worst, twin(Arithmetic::Float64), kSequences, tokens, kWideRowTolerance, true,
               kFewestPasses);
  if (mixed) {
    couple_modes(worst, twin(Arithmetic::Mixed), kSequences, tokens, kMixedRowTolerance, false);
  }
  const double threshold = mixed ? kMixedRowTolerance : kRowTolerance;
  if (!(worst.worst <= 1)) return judged(false, worst.value, threshold, worst.where);
  if (models.full() == nullptr) {
    return {"", AuditVerdict::Skipped, kNaN, threshold, models.too_large() + "; its twin passes"};
  }
  return judged(
      true, worst.value, threshold,
      fmt::format("{} sequences of {} tokens at size, {} of the twin", rows, window, kSequences));
}

}  // namespace depthgrid
