#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full_like.h>

#include "core/base/nan.hpp"
#include "core/cells/cell_set.hpp"
#include "core/train/gradient_sync.hpp"
#include "worker/audit/audit_checks.hpp"
#include "worker/audit/audit_modes.hpp"
#include "worker/audit/gradient_differences.hpp"
#include "worker/audit/step_reference.hpp"

namespace depthgrid {
namespace {

constexpr TwinSize kStepTwin{.width = 16, .layers = 24, .tokens = 9, .vocabulary = 31};
constexpr std::int64_t kStepRows = 5;  // in micro-batches of 1, 2 and 2
constexpr std::int64_t kMicroBatches = 3;
/// Trainings of these steps, from the same weights, each from moments of zero: the second step of
/// the first one has moments; late ones show what a step's number does.
constexpr std::array<std::array<std::int64_t, 2>, 3> kTrainings = {
    {{1, 2}, {4002, 0}, {2147483647, 0}}};
constexpr std::int64_t kLastStep = 2147483647;
constexpr double kStepRate = 0.05;
constexpr double kStepTolerance = 5e-3;        // of a tensor's largest change
constexpr double kDifferenceTolerance = 1e-3;  // relative
constexpr std::uint64_t kStepKeys = 5;         // attempts to find windows without near ties

/// Fixed windows and control signals.
class FixedBatches final : public BatchSource {
 public:
  FixedBatches(at::Tensor windows, Control control)
      : windows_(std::move(windows)), control_(std::move(control)) {}

  Batch batch(std::int64_t step, std::int64_t first_row, std::int64_t rows) const override {
    Batch out{.windows = windows_.narrow(1, first_row, rows), .step = step, .first_row = first_row};
    if (control_.u.defined()) out.control.u = control_.u.narrow(1, first_row, rows);
    return out;
  }
  std::int64_t tokens() const override { return windows_.size(2) - 1; }

 private:
  at::Tensor windows_;  // (E, B, T + 1)
  Control control_;
};

/// The recipe of the audited steps: everything that a recipe may have, at once. An eps of the size
/// of gradients keeps Adam from dividing a wrong scale out of them.
TrainOptions recipe_of(const AuditSubject& subject, std::vector<double> eps,
                       std::vector<double> clip) {
  const std::size_t cells = eps.size();
  TrainOptions t;
  t.cells = static_cast<std::int64_t>(cells);
  t.steps = kLastStep;
  t.batch = kStepRows;
  t.accumulation = kMicroBatches;
  t.optimizer = subject.optimizer;
  t.clip_scope = subject.clip_scope;
  t.frozen = subject.frozen;
  t.scalars = {{}, {}, std::move(eps)};
  t.clip = std::move(clip);
  t.diverged_above.assign(cells, std::numeric_limits<double>::infinity());
  for (std::size_t e = 0; e < cells; ++e) {
    t.loss_scale.push_back(e % 2 == 0 ? 1 : 8);
    t.scalars[0].push_back(e % 2 == 0 ? 0.9 : 0.8);
    t.scalars[1].push_back(e % 2 == 0 ? 0.98 : 0.95);
    t.schedule.push_back({.kind = e % 2 == 0 ? ScheduleKind::Constant : ScheduleKind::Cosine,
                          .steps = kLastStep,
                          .warmup_steps = e % 2 == 0 ? 0 : 3});
    for (std::size_t g = 0; g < kParameterGroupCount; ++g) {
      t.lr.push_back(kStepRate * (1 + static_cast<double>(g + e) / kParameterGroupCount));
      t.weight_decay.push_back(e % 2 == 0 ? 0.1 : 0);
    }
  }
  return t;
}

/// Gradients of the mean loss of the whole batch at these values. @return (E, P) float64
at::Tensor whole_gradient(AuditModel& wide, const at::Tensor& values, Batch batch) {
  {
    const at::NoGradGuard no_grad;
    wide.arena().values().copy_(values);
  }
  wide.arena().zero_gradients();
  if (batch.control.u.defined()) batch.control.u = batch.control.u.to(at::kDouble);
  const auto tokens = static_cast<double>(batch.windows.size(1) * (batch.windows.size(2) - 1));
  const Objective::Losses losses = wide.language().losses(batch);
  losses.total.backward(at::full_like(losses.total.detach(), 1 / tokens));
  return wide.arena().gradients().clone();
}

/// Whether both arithmetics make the same choices in training: a near tie may fall either way.
bool same_choices(const AuditModel& a, const AuditModel& b, const at::Tensor& inputs,
                  const Control& control) {
  if (a.options().routing.layers.empty()) return true;
  RoutingRecord one, other;
  a.logits(inputs, {.training = true, .control = control, .routing = &one});
  b.logits(inputs, {.training = true, .control = control, .routing = &other});
  for (std::size_t i = 0; i < one.layers.size(); ++i) {
    if (one.layers[i].executed.ne(other.layers[i].executed).any().item<bool>()) return false;
    const at::Tensor &x = one.layers[i].target, &y = other.layers[i].target;
    if (x.defined() && x.ne(y).any().item<bool>()) return false;
  }
  return true;
}

/// The largest deviation of a tensor's change from that of the reference, in units of its bound.
struct StepError {
  double worst = 0;
  std::string parameter;
  std::int64_t step = 0;

  void note(double size, const ParameterSlot& slot, std::int64_t at) {
    if (size <= worst) return;
    worst = std::isnan(size) ? HUGE_VAL : size;
    parameter = slot.spec.name;
    step = at;
  }
};

void compare_changes(StepError& error, const ParameterLayout& layout, const at::Tensor& before,
                     const at::Tensor& after, const at::Tensor& expected, std::int64_t step) {
  const at::Tensor wanted = expected - before, off = (after - expected).abs();
  for (const ParameterSlot& slot : layout.slots()) {
    const auto most = [&](const at::Tensor& x) {  // (E)
      return x.narrow(1, slot.offset, slot.count).abs().amax(1);
    };
    const at::Tensor rounding = most(before) * 2.5e-7 + 1e-5 * kStepRate;
    const at::Tensor bound = most(wanted) + rounding / kStepTolerance;
    error.note((most(off) / bound).max().item<double>(), slot, step);
  }
}

/// Whether factors in bf16 are those of the weights after a step of training.
bool copy_follows(const AuditModels& models, const BatchSource& batches,
                  const TrainOptions& recipe) {
  AuditModel model = models.twin(kStepTwin, {0, 1}, {Arithmetic::Mixed, true});
  const at::Tensor before = model.arena().shadow().clone();
  CellOptimizer optimizer(model.arena(), recipe);
  NoSync alone;
  CellSet running(static_cast<std::size_t>(model.options().cells));
  Trainer trainer(model.language(), model.arena(), optimizer, batches, alone, running, recipe);
  trainer.step(1);
  const at::Tensor after = model.arena().shadow();
  return at::equal(after, model.arena().values().to(at::kBFloat16)) && !at::equal(after, before);
}

}  // namespace

AuditResult check_training_step(AuditModels& models) {
  const AuditSubject& subject = models.subject();
  const std::int64_t tokens = std::min(models.tokens(), kStepTwin.tokens);
  const std::vector<std::size_t> cells = {0, 1};
  AuditModel model = models.twin(kStepTwin, cells);
  AuditModel wide = models.twin(kStepTwin, cells, {Arithmetic::Float64, true});
  const ModelOptions& o = model.options();
  const at::Tensor start = model.arena().values().to(at::kDouble);
  wide.arena().values().copy_(start);
  at::Tensor windows;
  Control control;
  bool same = false;
  for (std::uint64_t key = 0; key < kStepKeys && !same; ++key) {
    windows = audit_tokens(o.vocabulary, {o.cells, kStepRows, tokens + 1}, 121 + key);
    const at::Tensor inputs = windows.narrow(2, 0, tokens);
    control = audit_control(o, inputs, 121);
    same = same_choices(model, wide, inputs, control);
  }
  if (!StepReference::knows(subject.optimizer)) {
    return {"", AuditVerdict::Undecided, kNaN, kStepTolerance,
            "no reference is known for optimiser " + subject.optimizer};
  }
  if (!same) {
    return {"", AuditVerdict::Undecided, kNaN, kStepTolerance,
            "float32 and float64 choose other tokens"};
  }
  const FixedBatches batches(windows, control);
  const Batch whole = batches.batch(1, 0, kStepRows);
  const at::Tensor first = whole_gradient(wide, start, whole);
  if (!first.isfinite().all().item<bool>()) {
    return judged(false, kNaN, kStepTolerance, "gradients are not finite");
  }

  GradientError differences;
  std::int64_t tensors = 0;
  std::string at_size = "at size none: too large";
  if (!o.tdt.gate_grad_to_trunk || o.routing.layers.empty()) {
    const Batch one{.windows = windows.narrow(0, 0, 1),
                    .step = 1,
                    .control = control.u.defined()
                                   ? Control{control.u.narrow(0, 0, 1).to(at::kDouble)}
                                   : Control()};
    AuditModel single = models.built(without_adjoint(models.various(kStepTwin, {0})), {0},
                                     {Arithmetic::Float64, true});
    single.arena().values().copy_(start.narrow(0, 0, 1));
    differences = differences_by_tensor(single, one);
    tensors = differences.tensors;
    if (differences.worst <= kDifferenceTolerance && fits_in_float64(models)) {
      differences = differences_at_size(models);
      at_size = fmt::format("all of them at size, to {:.1g}", differences.worst);
    }
  } else {
    at_size = "none by differences: the moving average moves without a gradient";
  }
  if (differences.worst > kDifferenceTolerance) {
    return judged(false, differences.worst, kDifferenceTolerance,
                  "the gradient by " + differences.parameter +
                      " is not that of a finite difference of the loss");
  }

  std::vector<double> eps, clip;
  for (std::int64_t e = 0; e < o.cells; ++e) {
    const double norm = first[e].norm().item<double>();
    eps.push_back(std::max(1e-12, norm / std::sqrt(static_cast<double>(first.size(1)))));
    clip.push_back(e % 2 == 0 ? norm / 2 : std::numeric_limits<double>::infinity());
  }
  const TrainOptions recipe = recipe_of(subject, eps, clip);
  StepError error;
  std::int64_t compared = 0;
  for (const auto& steps : kTrainings) {
    {
      const at::NoGradGuard no_grad;
      model.arena().values().copy_(start);
      model.arena().zero_gradients();
    }
    CellOptimizer optimizer(model.arena(), recipe);
    NoSync alone;
    CellSet running(static_cast<std::size_t>(o.cells));
    Trainer trainer(model.language(), model.arena(), optimizer, batches, alone, running, recipe);
    StepReference reference(model.layout(), recipe);
    for (const std::int64_t step : steps) {
      if (step == 0) continue;
      const at::Tensor before = model.arena().values().to(at::kDouble);
      const at::Tensor gradient = whole_gradient(wide, before, batches.batch(step, 0, kStepRows));
      // A step may bring two scores so near to each other that the arithmetics choose otherwise.
      if (!same_choices(model, wide, windows.narrow(2, 0, tokens), control)) break;
      ++compared;
      const at::Tensor expected = reference.step(before, gradient, step);
      if (subject.step) {
        subject.step(trainer, model.arena(), step);
      } else {
        trainer.step(step);
      }
      compare_changes(error, model.layout(), before, model.arena().values().to(at::kDouble),
                      expected, step);
    }
  }
  if (error.worst > kStepTolerance) {
    return judged(false, error.worst, kStepTolerance,
                  fmt::format("step {} moves {} otherwise than {} of the whole batch's gradient",
                              error.step, error.parameter, subject.optimizer));
  }
  if (subject.mixed && !copy_follows(models, batches, recipe)) {
    return judged(false, kNaN, kStepTolerance,
                  "the bf16 copy of the weights is not that of the weights after a step");
  }
  return judged(
      true, error.worst, kStepTolerance,
      fmt::format("{} steps in {} micro-batches, {} tensors by differences of the twin; {}{}",
                  compared, kMicroBatches, tensors, at_size,
                  o.gradient.mode == GradientMode::Adjoint
                      ? "; by declaration, training has the adjoint's approximation of them"
                      : ""));
}

}  // namespace depthgrid
