#include "worker/eval/loss_change.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/zeros.h>

#include "core/base/nan.hpp"
#include "core/data/eval_batches.hpp"

namespace depthgrid {
namespace {

constexpr std::int64_t kMostWindows = 256;

}  // namespace

std::optional<std::vector<double>> loss_changes(LanguageModel& model, const EvalPlan& plan,
                                                const Dataset& data, std::int64_t cells,
                                                const std::function<void(Batch&)>& change,
                                                const std::function<bool()>& stop) {
  const at::NoGradGuard no_grad;
  std::vector<double> out(static_cast<std::size_t>(cells), kNaN);
  EvalWindows windows = plan.windows(Split::Valid, true);
  if (windows.size() > kMostWindows) windows = spaced_windows(windows, kMostWindows);
  if (windows.size() == 0) return out;
  at::Tensor sums = at::zeros({cells}, at::kDouble);
  double tokens = 0;
  const EvalBatches batches(data.valid(), windows, plan.batch_size());
  for (std::int64_t b = 0; b < batches.size(); ++b) {
    const EvalBatch batch = batches.batch(b);
    const at::Tensor ids = batch.tokens.narrow(1, 0, batch.length + 1).unsqueeze(0);
    const at::Tensor mask = batch.mask.narrow(1, 0, batch.length).to(at::kDouble).unsqueeze(0);
    const auto loss = [&](const Batch& rows) {
      return (model.score(rows).loss.to(at::kCPU, at::kDouble) * mask).sum({1, 2});
    };
    Batch rows{.windows = ids, .first_row = batch.first};
    if (stop && stop()) return std::nullopt;
    const at::Tensor before = loss(rows);
    if (stop && stop()) return std::nullopt;
    change(rows);
    sums += loss(rows) - before;
    tokens += mask.sum().const_data_ptr<double>()[0];
  }
  for (std::int64_t e = 0; e < cells; ++e) {
    out[static_cast<std::size_t>(e)] = sums.const_data_ptr<double>()[e] / tokens;
  }
  return out;
}

std::optional<std::vector<double>> neutral_costs(LanguageModel& model, const EvalPlan& plan,
                                                 const Dataset& data, std::int64_t cells,
                                                 std::int64_t axes,
                                                 const std::function<bool()>& stop) {
  const auto at_zero = [&](Batch& rows) {
    rows.control.u = at::zeros({cells, rows.windows.size(1), 1, axes});
  };
  return loss_changes(model, plan, data, cells, at_zero, stop);
}

std::optional<std::vector<double>> bypass_costs(LanguageModel& model, const EvalPlan& plan,
                                                const Dataset& data, std::int64_t cells,
                                                const std::function<bool()>& stop) {
  return loss_changes(model, plan, data, cells, [](Batch& rows) { rows.bypass = true; }, stop);
}

}  // namespace depthgrid
