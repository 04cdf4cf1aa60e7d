#include "worker/audit/audit_training.hpp"

#include <algorithm>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/full.h>

namespace depthgrid {
namespace {

TrainOptions recipe(const std::vector<double>& lr, std::int64_t steps) {
  TrainOptions t;
  t.cells = static_cast<std::int64_t>(lr.size());
  t.steps = steps;
  for (const double scalar : {0.9, 0.98, 1e-8}) t.scalars.emplace_back(lr.size(), scalar);
  for (const double rate : lr) {
    t.clip.push_back(1.0);
    t.loss_scale.push_back(1);
    t.schedule.push_back({.kind = ScheduleKind::Cosine,
                          .steps = steps,
                          .warmup_steps = std::min<std::int64_t>(10, steps / 2)});
    t.lr.insert(t.lr.end(), kParameterGroupCount, rate);
    t.weight_decay.insert(t.weight_decay.end(), kParameterGroupCount, 0.0);
  }
  return t;
}

}  // namespace

AuditTraining::AuditTraining(AuditModel& model, const std::vector<double>& lr, std::int64_t steps)
    : model_(model), optimizer_(model.arena(), recipe(lr, steps)), active_(lr.size(), 1) {}

at::Tensor AuditTraining::backward(const at::Tensor& windows, std::int64_t step, bool steered) {
  const double tokens = static_cast<double>(windows.size(1) * (windows.size(2) - 1));
  Batch batch{windows, step};
  if (steered && model_.options().control.labelled) {
    const at::Tensor inputs = windows.narrow(0, 0, 1).narrow(2, 0, windows.size(2) - 1);
    batch.control = audit_control(model_.options(), inputs, static_cast<std::uint64_t>(step));
    batch.control.u = batch.control.u.expand({windows.size(0), -1, -1, -1}).contiguous();
  }
  const Objective::Losses losses = model_.language().losses(batch);
  losses.total.backward(at::full({windows.size(0)}, 1 / tokens, losses.total.options()));
  return losses.loss.detach() / tokens;
}

void AuditTraining::update(std::int64_t step) {
  optimizer_.step(step, active_);
}

double AuditTraining::evaluate(const at::Tensor& windows) {
  const at::NoGradGuard no_grad;
  return model_.language()
      .score({windows.unsqueeze(0)})
      .loss.select(0, 0)
      .mean(at::kDouble)
      .item<double>();
}

}  // namespace depthgrid
