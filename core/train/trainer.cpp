#include "core/train/trainer.hpp"

#include <algorithm>
#include <cmath>

#include <ATen/TensorOperators.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>

#include "core/cells/queued_tensor.hpp"

namespace depthgrid {

Trainer::Trainer(Objective& objective, Arena& arena, CellOptimizer& optimizer,
                 const BatchSource& batches, GradientSync& sync, CellSet& cells,
                 const TrainOptions& options)
    : objective_(objective),
      arena_(arena),
      optimizer_(optimizer),
      batches_(batches),
      sync_(sync),
      buckets_(arena, sync),
      cells_(cells),
      options_(options) {}

at::Tensor Trainer::accumulate(std::int64_t step) {
  const std::int64_t batch = options_.batch, ranks = sync_.ranks(), rank = sync_.rank();
  const double tokens = static_cast<double>(batch * batches_.tokens());
  const at::TensorOptions plain = arena_.values().options();
  const at::Tensor weight = queued_tensor(options_.loss_scale, plain) / tokens;
  const auto rows_of_losses = static_cast<std::int64_t>(2 + objective_.loss_parts().size());
  at::Tensor sums =
      at::zeros({rows_of_losses, options_.cells}, plain.dtype(at::kDouble).device(at::kCPU));
  const std::int64_t begin = batch * rank / ranks;
  const std::int64_t rows = batch * (rank + 1) / ranks - begin;
  const std::int64_t last = std::min(options_.accumulation, rows) - 1;  // that has rows
  std::int64_t done = 0;
  for (std::int64_t m = 0; m < options_.accumulation; ++m) {
    const std::int64_t first = begin + rows * m / options_.accumulation;
    const std::int64_t count = begin + rows * (m + 1) / options_.accumulation - first;
    if (count == 0) continue;
    Batch micro = batches_.batch(step, first, count);
    for (at::Tensor* t : micro.tensors()) {
      if (t->defined()) *t = queued_copy(*t, plain.device());
    }
    const Objective::Losses losses = objective_.losses(micro);
    if (done++ == last) buckets_.arm();
    losses.total.backward(weight.to(losses.total.scalar_type()));
    std::vector<at::Tensor> all = {losses.loss.detach(), losses.total.detach()};
    for (const at::Tensor& part : losses.parts) all.push_back(part.detach());
    sums += at::stack(all).to(at::kCPU, at::kDouble);
  }
  return sums / tokens;
}

StepReport Trainer::step(std::int64_t step) {
  at::Tensor loss = accumulate(step);
  buckets_.finish();
  sync_.sum(loss);
  StepReport report;
  const double* values = loss.const_data_ptr<double>();
  const auto row = [&](std::int64_t i) {
    return std::vector<double>(values + i * options_.cells, values + (i + 1) * options_.cells);
  };
  report.loss = row(0);
  report.total = row(1);
  for (std::int64_t i = 2; i < loss.size(0); ++i) report.parts.push_back(row(i));
  std::vector<std::uint8_t> active;
  for (std::size_t e = 0; e < report.loss.size(); ++e) {
    const bool alive = cells_.status(static_cast<std::int64_t>(e)) == CellStatus::Running;
    const bool sound =
        std::isfinite(report.total[e]) && report.loss[e] <= options_.diverged_above[e];
    active.push_back(alive && sound ? 1 : 0);
    report.nonfinite.push_back(alive && !sound ? 1 : 0);
  }
  if (layers_) layers_->read(arena_.gradients(), optimizer_.kernels());
  report.optimizer = optimizer_.step(step, active);
  if (layers_) report.layers = layers_->norms(report.optimizer.norms, options_.loss_scale);
  for (std::size_t e = 0; e < active.size(); ++e) {
    if (active[e] != 0 && report.optimizer.norms.nonfinite[e] != 0) report.nonfinite[e] = 1;
    if (report.nonfinite[e] != 0) cells_.retire(static_cast<std::int64_t>(e), CellStatus::Diverged);
  }
  return report;
}

}  // namespace depthgrid
