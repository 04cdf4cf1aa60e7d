#include "worker/audit/gradient_probe.hpp"

#include <algorithm>
#include <cmath>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/where.h>

#include "core/base/nan.hpp"
#include "worker/audit/suffix_probe.hpp"

namespace depthgrid {
namespace {

constexpr std::int64_t kRowsOfCut = 2;
constexpr std::uint64_t kGradientKey = 71;
constexpr std::int64_t kGradientStep = 4002;

/// Gradients of the early logits of each cell. @param weight  (E, B, T, V). @return (E, P)
at::Tensor early_gradients(AuditModel& model, const at::Tensor& tokens, const at::Tensor& weight,
                           const ForwardContext& context) {
  model.arena().zero_gradients();
  const at::Tensor logits = model.recorded_logits(tokens, context);
  if (!logits.requires_grad()) return model.arena().gradients().clone();
  (logits * weight).sum().backward();
  return model.arena().gradients().clone();
}

}  // namespace

GradientEffect change_gradients(const AuditModels& models, bool held) {
  const std::int64_t tokens = std::min(models.tokens(), kGradientTwin.tokens);
  const std::vector<std::int64_t> cuts = all_cuts(tokens);
  GradientEffect effect;
  if (cuts.empty()) return effect;
  const std::vector<std::size_t> copies(cuts.size(), 0);
  ModelOptions options = models.various(kGradientTwin, copies);
  AuditModel model(models.subject(), std::move(options),
                   std::vector<std::uint64_t>(cuts.size(), models.subject().seed),
                   {.arithmetic = Arithmetic::Float64, .moved = true});
  const ModelOptions& o = model.options();
  const at::Tensor cut = at::tensor(cuts, at::kLong).view({-1, 1, 1});
  const at::Tensor place = at::arange(tokens, at::kLong);
  const at::Tensor late = place.ge(cut);  // (E, 1, T)
  const std::vector<std::int64_t> sizes = {o.cells, kRowsOfCut, tokens};
  const at::Tensor unchanged = audit_tokens(o.vocabulary, sizes, kGradientKey);
  const at::Tensor shift = 1 + audit_tokens(o.vocabulary - 1, sizes, kGradientKey + 1);
  const at::Tensor changed = at::where(late, (unchanged + shift) % o.vocabulary, unchanged);
  at::Generator random = at::make_generator<at::CPUGeneratorImpl>(kGradientKey);
  const at::Tensor weight = at::randn({1, kRowsOfCut, tokens, o.vocabulary}, random, at::kDouble) *
                            late.logical_not().unsqueeze(3).to(at::kDouble);
  ForwardContext context{.training = true,
                         .step = kGradientStep,
                         .control = audit_control(o, unchanged, kGradientKey)};
  if (held) context = with_held_masks(model, unchanged, context).value_or(context);
  const at::Tensor before = early_gradients(model, unchanged, weight, context);
  const at::Tensor after = early_gradients(model, changed, weight, context);
  effect.reached = before.ne(0).any().item<bool>();
  const at::Tensor scale = before.abs().amax(1, true).clamp_min(1e-300);
  const at::Tensor change = (before - after).abs() / scale;  // (E, P)
  for (const ParameterSlot& slot : model.layout().slots()) {
    const at::Tensor part = change.narrow(1, slot.offset, slot.count);
    const double most = part.isnan().any().item<bool>() ? kNaN : part.max().item<double>();
    if (most <= effect.change) continue;
    effect.change = most;
    effect.parameter = slot.spec.name;
    effect.cut = cuts[static_cast<std::size_t>(part.amax(1).argmax().item<std::int64_t>())];
    if (std::isnan(most)) break;
  }
  return effect;
}

GradientEffect gradients_by_late_tokens(AuditModel& model, std::int64_t tokens, std::int64_t rows,
                                        std::int64_t step, bool held) {
  const ModelOptions& o = model.options();
  const std::int64_t lower = o.vocabulary / 2, upper = o.vocabulary - lower;
  GradientEffect effect;
  if (lower < 1 || tokens < 2) return effect;
  const std::int64_t all = o.cells * rows;
  const at::Tensor cut =
      1 + (2 * at::arange(all, at::kLong) + 1).mul_(tokens - 1).div_(2 * all, "floor");
  const at::Tensor place = at::arange(tokens, at::kLong);
  const at::Tensor late = place.ge(cut.view({rows, o.cells, 1}).transpose(0, 1));  // (E, B, T)
  const std::vector<std::int64_t> sizes = {o.cells, rows, tokens};
  const at::Tensor text = at::where(late, lower + audit_tokens(upper, sizes, kGradientKey + 2),
                                    audit_tokens(lower, sizes, kGradientKey + 3));
  ForwardContext context{
      .training = true, .step = step, .control = audit_control(o, text, kGradientKey)};
  if (held) context = with_held_masks(model, text, context).value_or(context);
  at::Generator random = at::make_generator<at::CPUGeneratorImpl>(kGradientKey);
  const at::Tensor column = at::arange(o.vocabulary, at::kLong).lt(lower);
  const at::Tensor weight = at::randn({1, 1, tokens, o.vocabulary}, random) *
                            late.logical_not().unsqueeze(3).logical_and(column).to(at::kFloat);
  const at::Tensor gradients =
      early_gradients(model, text, weight.to(model.arena().values().scalar_type()), context);
  const at::Tensor table = slot_view(gradients, model.layout().find("embedding.weight"));
  effect.reached = table.narrow(1, 0, lower).ne(0).any().item<bool>();
  const at::Tensor wrong = table.narrow(1, lower, upper).abs().amax(2);  // (E, upper)
  const double scale = std::max(1e-300, table.abs().max().item<double>());
  const double most = wrong.isnan().any().item<bool>() ? kNaN : wrong.max().item<double>();
  if (most == 0) return effect;
  effect.change = std::isnan(most) ? most : std::max(1e-300, most / scale);
  const std::int64_t at = wrong.argmax().item<std::int64_t>();
  const at::Tensor hit = text[at / upper].eq(lower + at % upper).any(1);  // (B)
  effect.cut =
      cut.view({rows, o.cells}).select(1, at / upper).masked_select(hit).min().item<std::int64_t>();
  effect.parameter = "embedding.weight";
  return effect;
}

}  // namespace depthgrid
