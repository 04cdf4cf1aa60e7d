#include "models/routing/routed_field.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include "models/routing/decisions.hpp"
#include "models/routing/masked_block.hpp"

namespace depthgrid {

FieldValue RoutedField::evaluate(const at::Tensor& x, const DepthPoint& at,
                                 const Control& u) const {
  const auto dynamic = options().routing.index(at.step);
  return dynamic ? routed(x, at, *dynamic, u) : BlockField::evaluate(x, at, u);
}

FieldValue RoutedField::executed(const at::Tensor& x, const DepthPoint& at, const at::Tensor& mask,
                                 const at::Tensor& gate) const {
  at::Tensor f = masked_block(options(), weights(at), x, at, mask, context());
  if (gate.defined()) f = f * gate.unsqueeze(-1);
  const at::Tensor wide = mask.unsqueeze(-1);
  return {at::where(wide, f, at::zeros({}, f.options().requires_grad(false))),
          wide.to(x.scalar_type())};
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
        &routing.signals.gate, &routing.signals.score, &routing.scalars.o_ce, &routing.scalars.m_cu,
        &routing.scalars.beta_ce, &routing.scalars.beta_cu}) {
    if (t->defined()) *t = t->detach();
  }
  context().routing->layers.push_back(std::move(routing));
}

void RoutedField::add_loss(std::size_t term, const at::Tensor& sum) const {
  if (context().losses == nullptr) return;
  at::Tensor& to = context().losses->at(term);
  const at::Tensor mean = sum / static_cast<double>(options().routing.layers.size());
  to = to.defined() ? to + mean : mean;
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

bool RoutedField::asked_to_teach() const {
  return asked() && context().routing->teach;
}

}  // namespace depthgrid
