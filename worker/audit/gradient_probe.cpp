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

GradientEffect change_gradients(const AuditRoom& room, bool held) {
  const std::int64_t tokens = std::min(room.tokens(), kGradientTwin.tokens);
  const std::vector<std::int64_t> cuts = all_cuts(tokens);
  GradientEffect effect;
  if (cuts.empty()) return effect;
  const std::vector<std::size_t> copies(cuts.size(), 0);
  ModelOptions options = room.various(kGradientTwin, copies);
  AuditModel model(room.subject(), std::move(options),
                   std::vector<std::uint64_t>(cuts.size(), room.subject().seed),
                   Arithmetic::Float64);
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
  ForwardContext context{.training = true, .control = audit_control(o, unchanged, kGradientKey)};
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

}  // namespace depthgrid
