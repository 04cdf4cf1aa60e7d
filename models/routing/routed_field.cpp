#include "models/routing/routed_field.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include <ATen/TensorOperators.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/sort.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include "models/blocks/attention.hpp"
#include "models/blocks/dropout.hpp"
#include "models/ops/host_kernels.hpp"
#include "models/routing/decisions.hpp"
#include "models/routing/top_k.hpp"

namespace depthgrid {

at::Tensor visible_keys(const at::Tensor& executed) {
  const std::int64_t tokens = executed.size(-1);
  const at::Tensor past = at::ones({tokens, tokens}, executed.options()).tril();
  const at::Tensor self = at::eye(tokens, executed.options());
  return executed.unsqueeze(-2).logical_and(past).logical_or(self);
}

at::Tensor masked_attention(const ModelOptions& o, const at::Tensor& qkv, const at::Tensor& keys,
                            std::int64_t layer, const ForwardContext& context) {
  const at::Tensor wide = qkv.scalar_type() == at::kBFloat16 ? qkv.to(at::kFloat) : qkv;
  RotaryAngles angles;
  if (o.positions == Positions::Rope) angles = rotary_angles(o, 0, wide.size(2), wide);
  const Heads split = split_heads(o, wide, angles);
  const Heads heads{split.q.contiguous(), split.k.contiguous(), split.v.contiguous()};
  const at::Tensor hidden = keys.logical_not().flatten(0, 1).unsqueeze(1);  // (E B, 1, T, T)
  return join_heads(written_attention(o, heads, hidden, layer, context), wide);
}

FieldValue RoutedField::evaluate(const at::Tensor& x, const DepthPoint& at,
                                 const Control& u) const {
  const WithoutHostKernels composed(context().composed);
  const auto dynamic = options().routing.index(at.step);
  if (!dynamic) return BlockField::evaluate(x, at, u);
  Losses losses;
  FieldValue value = routed(x, at, *dynamic, u, losses);
  value.losses = std::move(losses);
  return value;
}

FieldValue RoutedField::executed(const at::Tensor& x, const DepthPoint& at, const at::Tensor& mask,
                                 const at::Tensor& gate, bool ranked) const {
  const at::Tensor wide = mask.unsqueeze(-1), passed = wide.to(x.scalar_type());
  if (const auto k = gathered_count(mask, ranked)) return {gathered(x, at, mask, gate, *k), passed};
  at::Tensor f = masked(x, at, mask);
  if (gate.defined()) f = f * gate.unsqueeze(-1);
  return {at::where(wide, f, at::zeros({}, f.options().requires_grad(false))), passed};
}

at::Tensor RoutedField::masked(const at::Tensor& x, const DepthPoint& at,
                               const at::Tensor& executed) const {
  const ModelOptions& o = options();
  const BlockWeights w = weights(at);
  const at::Tensor keys = visible_keys(executed);
  const Attend attend = [&](const at::Tensor& qkv) {
    return masked_attention(o, qkv, keys, at.step, context());
  };
  return block_body(o, w, x, at.h, attend, [&](const at::Tensor& normed) {
    const at::Tensor fed = feed_forward(o, w, normed).to(x.scalar_type());
    return dropout(fed, o.dropout_mlp, "mlp", at.step, context());
  });
}

std::optional<std::int64_t> RoutedField::gathered_count(const at::Tensor& mask, bool ranked) const {
  const RoutingOptions& o = options().routing;
  const std::int64_t tokens = mask.size(-1);
  if (!o.gathered || (o.gathered_length > 0 && tokens != o.gathered_length)) return std::nullopt;
  const std::vector<std::int64_t> each = capacities(o, tokens);
  if (std::ranges::adjacent_find(each, std::ranges::not_equal_to{}) != each.end()) {
    return std::nullopt;
  }
  const std::int64_t k = std::max<std::int64_t>(each.front(), o.always_first ? 1 : 0);
  if (ranked) return k;
  // A caller's masks, such as an audit's, may have any count: reads a number on the host.
  if (!forced() || !mask.sum(-1).eq(k).all().item<bool>()) return std::nullopt;
  return k;
}

at::Tensor RoutedField::gathered(const at::Tensor& x, const DepthPoint& at, const at::Tensor& mask,
                                 const at::Tensor& gate, std::int64_t k) const {
  const ModelOptions& o = options();
  if (k == 0) return at::zeros_like(x);
  // A stable sort puts the executed tokens first, in the order of the text.
  const at::Tensor order = std::get<1>(at::sort(mask.to(at::kByte), /*stable=*/true, -1, true));
  const at::Tensor times = order.narrow(-1, 0, k).contiguous();  // (E, B, k)
  const at::Tensor rows = times.unsqueeze(-1).expand({x.size(0), x.size(1), k, x.size(3)});
  RotaryAngles angles;
  if (o.positions == Positions::Rope) {
    angles = at_places(rotary_angles(o, 0, x.size(2), x), times);
  }
  at::Tensor f = increment(x.gather(2, rows), at, angles);
  if (gate.defined()) f = f * gate.gather(2, times).unsqueeze(-1);
  return at::zeros_like(x).scatter(2, rows, f);
}

FieldValue RoutedField::skipped(const at::Tensor& x) const {
  return {at::zeros_like(x), at::zeros_like(x.narrow(-1, 0, 1))};
}

void RoutedField::report(LayerRouting&& routing) const {
  if (!asked()) return;
  for (at::Tensor* t :
       {&routing.logits, &routing.score, &routing.residual, &routing.predicted,
        &routing.execution_gate, &routing.signals.d_st, &routing.signals.d_ch, &routing.signals.ma,
        &routing.signals.ce, &routing.signals.cu, &routing.signals.s_ce, &routing.signals.s_cu,
        &routing.signals.gate, &routing.signals.score}) {
    if (t->defined()) *t = t->detach();
  }
  GateScalars& scalars = routing.scalars;
  for (at::Tensor* t : {&scalars.o_ce, &scalars.m_cu, &scalars.beta_ce, &scalars.beta_cu}) {
    if (t->defined() && !context().routing->attached) *t = t->detach();
  }
  context().routing->layers.push_back(std::move(routing));
}

void RoutedField::add_loss(Losses& losses, std::size_t term, const at::Tensor& sum) const {
  if (losses.size() <= term) losses.resize(term + 1);
  losses[term] = sum / static_cast<double>(options().routing.layers.size());
}

void RoutedField::observe(Losses& losses, std::size_t term, const at::Tensor& average,
                          const at::Tensor& sum) {
  if (losses.size() <= term) losses.resize(term + 1);
  losses[term] = (average - average.detach()).squeeze(-1) * sum;
}

at::Tensor RoutedField::plain_mask(const at::Tensor& like, std::int64_t layer) const {
  if (!context().execution) return {};
  const Execution& execution = *context().execution;
  const RoutingOptions& o = options().routing;
  const at::TensorOptions flags = like.options().dtype(at::kBool).requires_grad(false);
  switch (execution.mode) {
    case ExecutionMode::Dense:
      return at::ones_like(like, flags);
    case ExecutionMode::SkipAll:
      return at::zeros_like(like, flags);
    case ExecutionMode::Random:
      return with_first(o, random_mask(o, like, layer, context().first_row));
    case ExecutionMode::Forced:
      return forced_mask(execution, like, layer);
    default:
      return {};
  }
}

at::Tensor RoutedField::student(const at::Tensor& logits, std::int64_t layer,
                                std::int64_t dynamic) const {
  const Execution execution = context().execution.value_or(Execution{});
  if (execution.decider == Decider::Forced) return forced_mask(execution, logits, layer);
  const RoutingOptions& o = options().routing;
  return with_first(o, student_mask(o, execution, logits.detach(), dynamic));
}

}  // namespace depthgrid
