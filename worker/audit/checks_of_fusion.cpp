#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>

#include "core/base/nan.hpp"
#include "worker/audit/audit_checks.hpp"
#include "worker/audit/audit_training.hpp"
#include "worker/audit/audited_pass.hpp"

namespace depthgrid {
namespace {

constexpr TwinSize kCrowdTwin{.width = 16, .layers = 3, .tokens = 9, .vocabulary = 31};
constexpr std::int64_t kCrowd = 33, kCrowdRows = 2;
constexpr std::array<std::int64_t, 4> kAloneOfCrowd = {0, 8, 17, 32};

constexpr std::int64_t kCells = 4;
constexpr std::int64_t kFusionRows = 3;
constexpr std::int64_t kFusionSteps = 2;
constexpr std::size_t kPoisoned = 1;
constexpr std::array<double, kCells> kRates = {1e-3, 3e-3, 1e-2, 5e-4};
constexpr std::array<double, kCells> kStepScales = {1, 0.5, 1.0 / 3, 1.5};

/// Some of the four cells, at the sizes of the twin.
ModelOptions options_of(const AuditModels& models, const std::vector<std::size_t>& cells) {
  ModelOptions o = twin_of(models.subject().options(cells), kPassTwin);
  const bool mixes = !o.routing.gathered;
  if (!mixes) std::ranges::fill(o.routing.capacity, models.options().routing.capacity.front());
  for (std::size_t i = 0; i < cells.size(); ++i) o.residual.scale[i] *= kStepScales[cells[i]];
  return o;
}

constexpr double kShareOfFusion = 0.2;  // of the audit's operations
constexpr std::int64_t kFusedRows = 2;

constexpr double kFusedTolerance = 1e-5, kMixedFusedTolerance = 5e-2;

/// Whether cells of the structure itself see each other: what a step of the twin cannot show, as it
/// is smaller. Other tokens in every second cell must leave the bits of the others, and each alone
/// must give its logits to rounding: a product of several matrices may be summed in another order
/// than one.
/// @param left_out  set if the structure is too large for it.
/// @return what differs; empty: nothing.
std::string apart_at_size(AuditModels& models, double& worst, bool& left_out) {
  left_out = true;
  AuditModel* several = models.several();
  if (several == nullptr || several->options().cells == 1) return "";
  const std::vector<std::size_t> cells = models.cells();
  const auto count = static_cast<std::int64_t>(cells.size());
  if (models.affordable(kShareOfFusion) < 8 * count) return "";  // of all passes together
  const std::int64_t rows =
      models.affordable(kShareOfFusion) < 8 * count * kFusedRows ? 1 : kFusedRows;
  left_out = false;
  const bool mixed = models.subject().mixed;
  const std::vector<std::int64_t> sizes = {count, rows, models.tokens()};
  const at::Tensor text = audit_tokens(models.options().vocabulary, sizes, 61);
  const at::Tensor other = audit_tokens(models.options().vocabulary, sizes, 62);
  ForwardContext context{.step = audited_step(0),
                         .control = audit_control(several->options(), text, 61)};
  std::array<at::Tensor, 2> fused;
  for (const bool training : {true, false}) {
    context.training = training;
    at::Tensor& own = fused[training ? 1 : 0];
    own = several->logits(text, context);
    for (std::int64_t changed = 0; changed < 2; ++changed) {
      at::Tensor beside = text.clone();
      for (std::int64_t e = changed; e < count; e += 2) beside[e].copy_(other[e]);
      const at::Tensor got = several->logits(beside, context);
      for (std::int64_t e = 1 - changed; e < count; e += 2) {
        if (same_bits(own[e], got[e])) continue;
        worst = largest_difference(own[e], got[e]);
        return fmt::format("cell {}: its logits at size depend on the cells beside it", e);
      }
    }
  }
  for (std::int64_t e = 0; e < count; ++e) {
    const auto cell = static_cast<std::size_t>(e);
    const AuditModel alone(models.subject(), models.one_of(cell), {models.subject().seed + cell},
                           {mixed ? Arithmetic::Mixed : Arithmetic::Float32, true});
    for (const bool training : {true, false}) {
      ForwardContext own{.training = training, .step = context.step, .control = context.control};
      if (own.control.u.defined()) own.control.u = own.control.u.narrow(0, e, 1);
      const at::Tensor expected = fused[training ? 1 : 0].narrow(0, e, 1);
      const double d = largest_difference(expected, alone.logits(text.narrow(0, e, 1), own));
      const double scale = std::max(1.0, expected.abs().max().item<double>());
      if (d <= scale * (mixed ? kMixedFusedTolerance : kFusedTolerance)) continue;
      worst = d;
      return fmt::format("cell {}: its logits at size differ alone and among {}", e, count);
    }
  }
  return "";
}

/// Losses and gradients of two steps and the weights after them, side by side. @return (E, n)
at::Tensor trace(const AuditModels& models, const std::vector<std::size_t>& cells, bool poison,
                 Arithmetic arithmetic = Arithmetic::Float32) {
  std::vector<std::uint64_t> seeds;
  std::vector<double> rates;
  for (const std::size_t c : cells) {
    seeds.push_back(models.subject().seed + c);
    rates.push_back(kRates[c]);
  }
  AuditModel model(models.subject(), options_of(models, cells), seeds, {arithmetic, true});
  if (poison) {
    model.arena().values().select(0, kPoisoned).fill_(kNaN);
    if (arithmetic == Arithmetic::Mixed) model.arena().refresh_shadow();
  }
  AuditTraining training(model, rates, kFusionSteps);
  const std::int64_t tokens = std::min(models.tokens(), kPassTwin.tokens);
  const auto count = static_cast<std::int64_t>(cells.size());
  std::vector<at::Tensor> seen;
  for (std::int64_t step = 1; step <= kFusionSteps; ++step) {
    const at::Tensor windows =
        audit_tokens(model.options().vocabulary, {1, kFusionRows, tokens + 1},
                     50 + static_cast<std::uint64_t>(step));
    seen.push_back(
        training.backward(windows.expand({count, kFusionRows, tokens + 1}), step).unsqueeze(1));
    seen.push_back(model.arena().gradients().clone());
    training.update(step);
  }
  seen.push_back(model.arena().values().clone());
  return at::cat(seen, 1);
}

/// Losses and gradients of a training step and the logits of an evaluation, of cells of one kind,
/// side by side. @param text  (E, B, T + 1). @return (E, n)
at::Tensor crowd_trace(const AuditModels& models, std::int64_t first, const at::Tensor& text) {
  const std::int64_t count = text.size(0), tokens = text.size(2) - 1;
  std::vector<std::uint64_t> seeds;
  for (std::int64_t e = 0; e < count; ++e) {
    seeds.push_back(models.subject().seed + static_cast<std::uint64_t>(first + e));
  }
  const std::vector<std::size_t> copies(static_cast<std::size_t>(count), 0);
  AuditModel model(models.subject(), models.various(kCrowdTwin, copies), seeds, {.moved = true});
  model.arena().zero_gradients();
  Batch batch{.windows = text, .step = audited_step(1)};
  const at::Tensor inputs = text.narrow(2, 0, tokens);
  // One signal for all: a cell's must not depend on how many there are.
  batch.control = audit_control(model.options(), inputs.narrow(0, 0, 1), 63);
  if (batch.control.u.defined()) {
    batch.control.u = batch.control.u.expand({count, -1, -1, -1}).contiguous();
  }
  const Objective::Losses losses = model.language().losses(batch);
  losses.total.sum().backward();
  const at::Tensor logits = model.logits(inputs, {.control = batch.control});
  return at::cat({losses.total.detach().unsqueeze(1), model.arena().gradients(), logits.flatten(1)},
                 1)
      .clone();
}

/// More cells than any block of a kernel, of one kind and small: with other tokens in every second
/// one the others keep their bits, and some have the same alone. @return what differs
std::string apart_in_a_crowd(const AuditModels& models, double& worst) {
  const ModelOptions o = models.various(kCrowdTwin, {0});
  const std::int64_t tokens = std::min(models.tokens(), kCrowdTwin.tokens);
  const std::vector<std::int64_t> sizes = {kCrowd, kCrowdRows, tokens + 1};
  const at::Tensor text = audit_tokens(o.vocabulary, sizes, 64);
  const at::Tensor other = audit_tokens(o.vocabulary, sizes, 65);
  const at::Tensor fused = crowd_trace(models, 0, text);
  const auto differs = [&](std::int64_t e, const at::Tensor& got) {
    if (same_bits(fused[e], got)) return false;
    worst = largest_difference(fused[e], got);
    return true;
  };
  at::Tensor beside = text.clone();
  for (std::int64_t e = 1; e < kCrowd; e += 2) beside[e].copy_(other[e]);
  const at::Tensor mixed = crowd_trace(models, 0, beside);
  for (std::int64_t e = 0; e < kCrowd; e += 2) {
    if (differs(e, mixed[e])) {
      return fmt::format("cell {} of {}: its numbers depend on the cells beside it", e, kCrowd);
    }
  }
  for (const std::int64_t e : kAloneOfCrowd) {
    if (differs(e, crowd_trace(models, e, text.narrow(0, e, 1))[0])) {
      return fmt::format("cell {} of {}: its numbers differ alone and fused", e, kCrowd);
    }
  }
  return "";
}

}  // namespace

AuditResult check_fusion(AuditModels& models) {
  const std::vector<std::size_t> all = {0, 1, 2, 3};
  const at::Tensor fused = trace(models, all, false);
  double worst = 0;
  bool left_out = false;
  std::string apart = apart_at_size(models, worst, left_out);
  if (apart.empty()) apart = apart_in_a_crowd(models, worst);
  if (!apart.empty()) return judged(false, worst, 0, apart);
  bool same = true;
  std::string note = fmt::format(
      "{} cells, {} steps, and beside a cell of NaN; {} small cells; {}", kCells, kFusionSteps,
      kCrowd, left_out ? "at size nothing: too large" : "logits of cells at size");
  const auto compare = [&](const at::Tensor& got, std::size_t e, const char* what) {
    const at::Tensor expected = fused[static_cast<std::int64_t>(e)];
    if (same_bits(expected, got)) return;
    if (same) note = fmt::format("cell {}: {}", e, what);
    same = false;
    const double d = largest_difference(expected, got);
    worst = std::isnan(d) ? d : std::max(worst, d);
  };
  for (const std::size_t e : all) {
    compare(trace(models, {e}, false)[0], e, "its numbers differ alone and fused");
  }
  const at::Tensor poisoned = trace(models, all, true);
  for (const std::size_t e : all) {
    if (e == kPoisoned) continue;
    compare(poisoned[static_cast<std::int64_t>(e)], e, "a neighbour's NaN changes its numbers");
  }
  if (models.subject().mixed) {
    const at::Tensor own = trace(models, all, false, Arithmetic::Mixed);
    const at::Tensor beside = trace(models, all, true, Arithmetic::Mixed);
    for (const std::size_t e : all) {
      const auto cell = static_cast<std::int64_t>(e);
      if (e == kPoisoned || same_bits(own[cell], beside[cell])) continue;
      if (same) note = fmt::format("cell {}: in bf16 a neighbour's NaN changes its numbers", e);
      same = false;
      worst = kNaN;
    }
  }
  return judged(same, worst, 0, note);
}

}  // namespace depthgrid
