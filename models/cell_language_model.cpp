#include "models/cell_language_model.hpp"

#include <limits>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include "core/cells/queued_tensor.hpp"
#include "models/control_secant.hpp"
#include "models/ops/cell_cross_entropy.hpp"
#include "models/routing/execution_masks.hpp"
#include "models/routing/routing_record.hpp"

namespace depthgrid {
namespace {

struct Shifted {
  at::Tensor inputs, targets;  // (E, B, T)
};

/// The signal where the model is.
Control on_device(const ModelOptions& o, const Control& control) {
  return control.u.defined() ? Control{control.u.to(o.device)} : control;
}

Shifted shifted(const ModelOptions& o, const Batch& batch) {
  const at::Tensor windows = batch.windows.to(o.device).expand({o.cells, -1, -1});
  const std::int64_t tokens = windows.size(-1) - 1;
  return {windows.narrow(-1, 0, tokens), windows.narrow(-1, 1, tokens)};
}

}  // namespace

Objective::Losses CellLanguageModel::losses(const Batch& batch) {
  const std::vector<LossTerm> terms = model_.loss_terms();
  Losses out;
  out.parts.resize(terms.size());
  const Shifted rows = shifted(model_.options(), batch);
  const ForwardContext context{.training = true,
                               .step = batch.step,
                               .first_row = batch.first_row,
                               .seeds = &seeds_,
                               .watch = watch,
                               .control = on_device(model_.options(), batch.control),
                               .execution = training_execution,
                               .losses = &out.parts,
                               .directions = directions_};
  const at::Tensor states = model_.states(rows.inputs, context);
  out.loss = batch.answers.place.defined()
                 ? answered(states, batch.answers).sum(1)
                 : cell_cross_entropy(model_.readout(states), rows.targets);
  if (const auto place = model_.options().regularisers.place(Regulariser::ControlSmoothness)) {
    out.parts[*place] = control_secant(model_, rows.inputs, context, states);
  }
  out.total = out.loss;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    if (!out.parts[i].defined()) out.parts[i] = at::zeros_like(out.loss.detach());
    if (terms[i].observes) {
      out.total = out.total + out.parts[i];
      continue;
    }
    const at::Tensor weight =
        queued_tensor(terms[i].weight, out.total.options().requires_grad(false));
    out.total = out.total + weight * out.parts[i];
  }
  out.parts.resize(loss_parts().size());
  return out;
}

bool CellLanguageModel::hold_execution(const Batch& batch) {
  if (model_.options().routing.layers.empty()) return false;
  const at::NoGradGuard no_grad;
  const at::Tensor inputs = shifted(model_.options(), batch).inputs;
  auto record = std::make_shared<RoutingRecord>();
  model_.logits(inputs,
                {.training = true, .step = batch.step, .seeds = &seeds_, .routing = record.get()});
  training_execution = Execution{.mode = ExecutionMode::Forced,
                                 .forced = executed_masks(*record, inputs, model_.options().layers),
                                 .held = record};
  return true;
}

std::shared_ptr<const DirectionRecord> CellLanguageModel::hold_directions(const Batch& batch) {
  if (model_.options().regularisers.directed().empty()) return nullptr;
  const at::NoGradGuard no_grad;
  directions_ = std::make_shared<DirectionRecord>();
  losses(batch);
  directions_->held = true;
  return directions_;
}

std::vector<std::string_view> CellLanguageModel::loss_parts() const {
  std::vector<std::string_view> names;
  for (const LossTerm& term : model_.loss_terms()) {
    if (!term.observes) names.push_back(term.name);
  }
  return names;
}

LanguageModel::Scores CellLanguageModel::score(const Batch& batch) {
  const ModelOptions& o = model_.options();
  const Shifted rows = shifted(o, batch);
  RoutingRecord record;
  const bool routes = !o.routing.layers.empty();
  const at::Tensor logits = model_.logits(rows.inputs, {.first_row = batch.first_row,
                                                        .control = on_device(o, batch.control),
                                                        .execution = execution,
                                                        .bypass = batch.bypass,
                                                        .routing = routes ? &record : nullptr});
  if (routes) count(record, rows.inputs);
  return {token_losses(logits, rows.targets), logits.argmax(-1).eq(rows.targets)};
}

at::Tensor CellLanguageModel::answer_losses(const Batch& batch) {
  const at::NoGradGuard no_grad;
  const ModelOptions& o = model_.options();
  const ForwardContext context{
      .first_row = batch.first_row, .control = on_device(o, batch.control), .execution = execution};
  return answered(model_.states(shifted(o, batch).inputs, context), batch.answers);
}

at::Tensor CellLanguageModel::answered(const at::Tensor& states, const Answers& answers) const {
  const at::Tensor place = answers.place.to(states.device()).expand({states.size(0), -1});
  const at::Tensor wanted = answers.wanted.to(states.device()).expand({states.size(0), -1, -1});
  const at::Tensor at = place.unsqueeze(-1).unsqueeze(-1).expand({-1, -1, 1, states.size(3)});
  const at::Tensor log_p =
      at::log_softmax(model_.readout(states.gather(2, at)).squeeze(2), -1);  // (E, B, V)
  const at::Tensor each = log_p.gather(-1, wanted.clamp_min(0));
  constexpr double kNothing = -std::numeric_limits<double>::infinity();
  return each.masked_fill(wanted.lt(0), kNothing).logsumexp(-1).neg();
}

void CellLanguageModel::count(const RoutingRecord& record, const at::Tensor& tokens) {
  const ModelOptions& o = model_.options();
  const std::int64_t seen = tokens.size(1) * tokens.size(2);
  if (!executed.executed.defined()) executed.executed = at::zeros({o.cells, o.layers}, at::kDouble);
  at::Tensor now = at::zeros({o.cells, o.layers}, at::kDouble).fill_(static_cast<double>(seen));
  for (const LayerRouting& layer : record.layers) {
    now.select(1, layer.layer).copy_(layer.executed.sum({1, 2}).to(at::kCPU, at::kDouble));
  }
  executed.executed += now;
  executed.tokens += seen;
}

}  // namespace depthgrid
