#include <algorithm>
#include <cmath>

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/where.h>

#include "core/base/nan.hpp"
#include "worker/audit/audit_checks.hpp"
#include "worker/audit/audit_modes.hpp"

namespace depthgrid {
namespace {

constexpr double kRowTolerance = 1e-5;
constexpr double kWideRowTolerance = 1e-12;
/// bf16 has 8 bits: a sum of another order may round a factor by 2^-8, in every layer.
constexpr double kMixedRowTolerance = 5e-2;
constexpr std::int64_t kSequences = 17;  // more than the rows of any block of a kernel
constexpr std::int64_t kAlone = 4;       // of them alone too
constexpr double kBatchFlops = 4e11;     // of a mode at size
constexpr std::int64_t kLateBatchStep = 4001;

/// The largest effect of a sequence's neighbours.
struct Coupling {
  double worst = 0;  // in units of the tolerance
  double value = 0;  // difference relative to the largest logit, or to 1
  std::string where;
  std::int64_t rows = 0;
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

/// A mode of cells whose sequences all differ: with every second sequence replaced, the others must
/// keep their bits; and a few of them are run alone.
void couple(Coupling& to, const AuditModel& model, const AuditedMode& mode, std::int64_t rows,
            std::int64_t tokens, double tolerance) {
  const bool main = of_a_run(mode);
  const ModelOptions& o = model.options();
  ForwardContext context = mode.context;
  context.step = kLateBatchStep;
  const std::vector<std::int64_t> sizes = {o.cells, rows, tokens};
  const at::Tensor text = audit_tokens(o.vocabulary, sizes, 23);
  const at::Tensor other = audit_tokens(o.vocabulary, sizes, 24);
  context.control = audit_control(o, text, 23);
  const auto run = [&](const at::Tensor& ids, const ForwardContext& c) {
    return c.training ? model.recorded_logits(ids, c).detach() : model.logits(ids, c);
  };
  const at::Tensor together = run(text, context);
  const double scale = std::max(1.0, together.abs().max().item<double>());
  for (std::int64_t replaced = 0; replaced < (main ? 2 : 1) && rows > 1; ++replaced) {
    const at::Tensor hit = at::arange(rows, at::kLong).remainder(2).eq(replaced).view({1, -1, 1});
    const at::Tensor beside = run(at::where(hit, other, text), context);
    for (std::int64_t r = 1 - replaced; r < rows; r += 2) {
      const at::Tensor a = together.select(1, r), b = beside.select(1, r);
      if (same_bits(a, b)) continue;
      const double d = largest_difference(a, b) / scale;
      note_coupling(to, d, HUGE_VAL, mode.name + ": a sequence depends on those beside it");
    }
  }
  const std::int64_t picked = main ? std::min(kAlone, rows) : 1;
  for (std::int64_t i = 0; i < picked; ++i) {
    const std::int64_t r = picked == 1 ? rows - 1 : i * (rows - 1) / (picked - 1);
    ForwardContext alone = context;
    alone.first_row = r;  // draws belong to its place in the batch
    if (alone.control.u.defined()) alone.control.u = alone.control.u.narrow(1, r, 1);
    const at::Tensor got = run(text.narrow(1, r, 1), alone);
    const double d = largest_difference(together.narrow(1, r, 1), got) / scale;
    note_coupling(to, d, d / tolerance,
                  mode.name + ": a sequence alone differs from itself in a batch");
  }
  to.rows = std::max(to.rows, rows);
}

/// @param every  also the modes that only evaluation offers.
void couple_modes(Coupling& to, const AuditModel& model, std::int64_t rows, std::int64_t tokens,
                  double tolerance, bool every) {
  for (const AuditedMode& mode : steered_modes(model, tokens)) {
    if (every || of_a_run(mode)) couple(to, model, mode, rows, tokens, tolerance);
  }
}

}  // namespace

AuditResult check_batch_independence(AuditRoom& room) {
  Coupling worst;
  const bool mixed = room.subject().mixed;
  if (AuditModel* model = room.several()) {
    const double row = room.row_flops() * static_cast<double>(model->options().cells);
    const std::int64_t rows = std::clamp<std::int64_t>(
        static_cast<std::int64_t>(kBatchFlops / (4 * row)), 2,
        std::min(kSequences, room.most_rows(model->options(), room.tokens()) + 1));
    couple_modes(worst, *model, rows, room.tokens(), mixed ? kMixedRowTolerance : kRowTolerance,
                 false);
  }
  const std::int64_t tokens = std::min(room.tokens(), kDeepTwin.tokens);
  couple_modes(worst, room.twin(kDeepTwin, room.cells()), kSequences, tokens, kRowTolerance, false);
  couple_modes(worst, room.twin(kDeepTwin, room.cells(), Arithmetic::Float64), kSequences, tokens,
               kWideRowTolerance, true);
  const double threshold = mixed ? kMixedRowTolerance : kRowTolerance;
  if (!(worst.worst <= 1)) return judged(false, worst.value, threshold, worst.where);
  if (room.full() == nullptr) {
    return {"", AuditVerdict::Skipped, kNaN, threshold, room.too_large() + "; its twin passes"};
  }
  return judged(true, worst.value, threshold, std::to_string(worst.rows) + " sequences");
}

}  // namespace depthgrid
