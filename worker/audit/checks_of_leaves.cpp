#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/equal.h>

#include "core/base/nan.hpp"
#include "models/cell_language_model.hpp"
#include "worker/audit/audit_checks.hpp"
#include "worker/audit/audit_modes.hpp"

namespace depthgrid {
namespace {

constexpr TwinSize kLeafTwin{.width = 16, .layers = 6, .tokens = 13, .vocabulary = 31};
constexpr std::int64_t kLeafRows = 4;

/// Everything that a leaf of a model may change: its start values, its losses in training, and its
/// logits in every mode. Side by side, in float64.
at::Tensor numbers_of(const AuditModels& models, const ModelOptions& options) {
  const at::NoGradGuard no_grad;
  AuditModel model(models.subject(), twin_of(options, kLeafTwin), {models.subject().seed},
                   {.arithmetic = Arithmetic::Float64});
  const ModelOptions& o = model.options();
  const std::int64_t tokens = std::min(models.tokens(), kLeafTwin.tokens);
  const at::Tensor windows = audit_tokens(o.vocabulary, {1, kLeafRows, tokens + 1}, 131);
  const at::Tensor inputs = windows.narrow(2, 0, tokens);
  ForwardContext signal{.control = audit_control(o, inputs, 131)};
  std::vector<at::Tensor> all = {model.arena().values().flatten()};
  Batch batch{.windows = windows, .step = 1};
  if (signal.control.u.defined()) batch.control.u = signal.control.u.to(at::kDouble);
  const Objective::Losses losses = model.language().losses(batch);
  all.push_back(losses.total.flatten());
  for (const AuditedMode& mode : audited_modes(model.model().family())) {
    ForwardContext context = mode.context;
    context.control = signal.control;
    all.push_back(model.logits(inputs, context).flatten());
  }
  return at::cat(all);
}

/// With a residual scale of 0 no layer changes its input: the states are the embedded tokens, to
/// the bit. Not of a flow, whose steps have a length of their own.
bool stands_still(const AuditModels& models) {
  ModelOptions o = twin_of(models.subject().options({0}), kDeepTwin);
  if (o.flow.replaced() > 0) return true;
  std::ranges::fill(o.residual.scale, 0);
  o.control.constant.clear();  // which moves the input of layers
  const AuditModel model(models.subject(), o, {models.subject().seed});
  const at::Tensor tokens =
      audit_tokens(o.vocabulary, {1, kLeafRows, std::min(models.tokens(), kDeepTwin.tokens)}, 132);
  const at::NoGradGuard no_grad;
  const at::Tensor embedded = model.model().embed(tokens);
  return std::ranges::all_of(std::array{true, false}, [&](bool training) {
    const ForwardContext context{.training = training, .step = 1, .seeds = &model.seeds()};
    return at::equal(model.model().states(tokens, context), embedded);
  });
}

}  // namespace

AuditResult check_leaves(AuditModels& models) {
  if (!stands_still(models)) {
    return judged(false, kNaN, 0, "model.residual.scale: at 0 the layers still change their input");
  }
  std::string silent;
  std::int64_t count = 0;
  at::Tensor first;
  if (!models.subject().leaves.empty()) first = numbers_of(models, models.subject().options({0}));
  for (const AuditedLeaf& leaf : models.subject().leaves) {
    const at::Tensor base = leaf.base ? numbers_of(models, leaf.base()) : first;
    const bool acts = std::ranges::any_of(leaf.changed, [&](const auto& changed) {
      return !same_bits(base, numbers_of(models, changed()));
    });
    if (acts) continue;
    ++count;
    silent += (silent.empty() ? "" : ", ") + leaf.path;
  }
  if (count > 0) {
    return judged(false, static_cast<double>(count), 0,
                  "another value changes no number: " + silent);
  }
  return judged(
      true, 0, 0,
      fmt::format("{} leaves change numbers; at a residual scale of 0 the layers stand still",
                  models.subject().leaves.size()));
}

}  // namespace depthgrid
