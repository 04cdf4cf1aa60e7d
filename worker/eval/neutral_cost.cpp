#include "worker/eval/neutral_cost.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/zeros.h>

#include "core/base/nan.hpp"
#include "core/data/eval_batches.hpp"

namespace depthgrid {
namespace {

constexpr std::int64_t kNeutralWindows = 256;  // at most

}  // namespace

std::optional<std::vector<double>> neutral_costs(LanguageModel& model, const EvalPlan& plan,
                                                 const Dataset& data, std::int64_t cells,
                                                 std::int64_t axes,
                                                 const std::function<bool()>& stop) {
  const at::NoGradGuard no_grad;
  std::vector<double> out(static_cast<std::size_t>(cells), kNaN);
  EvalWindows windows = plan.windows(Split::Valid, true);
  if (windows.size() > kNeutralWindows) windows = spaced_windows(windows, kNeutralWindows);
  if (windows.size() == 0) return out;
  at::Tensor sums = at::zeros({cells}, at::kDouble);
  double tokens = 0;
  const EvalBatches batches(data.valid(), windows, plan.batch_size());
  for (std::int64_t b = 0; b < batches.size(); ++b) {
    const EvalBatch batch = batches.batch(b);
    const at::Tensor ids = batch.tokens.narrow(1, 0, batch.length + 1).unsqueeze(0);
    const at::Tensor mask = batch.mask.narrow(1, 0, batch.length).to(at::kDouble).unsqueeze(0);
    const auto loss = [&](const at::Tensor& u) {
      const at::Tensor each =
          model.score({.windows = ids, .first_row = batch.first, .control = {u}}).loss;
      return (each.to(at::kCPU, at::kDouble) * mask).sum({1, 2});
    };
    if (stop && stop()) return std::nullopt;
    const at::Tensor without = loss({});
    if (stop && stop()) return std::nullopt;
    sums += loss(at::zeros({cells, ids.size(1), 1, axes})) - without;
    tokens += mask.sum().const_data_ptr<double>()[0];
  }
  for (std::int64_t e = 0; e < cells; ++e) {
    out[static_cast<std::size_t>(e)] = sums.const_data_ptr<double>()[e] / tokens;
  }
  return out;
}

}  // namespace depthgrid
