#include <utility>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>

#include "core/depth/observer.hpp"
#include "models/routing/routing_record.hpp"
#include "worker/inspect/inspect_pass.hpp"
#include "worker/inspect/inspections.hpp"

namespace depthgrid {
namespace {

/// Keeps the state before every depth step.
class StateKeeper final : public Observer {
 public:
  bool wants(std::int64_t) const override { return true; }
  void on_depth(const DepthEvent& e) override { states.push_back(e.x.detach().clone()); }
  std::vector<at::Tensor> states;
};

/// Everything about one dynamic layer; less for a mode that evaluates no router or no teacher.
void add_signals(CheckReport& out, const LayerRouting& layer) {
  const auto add = [&](const char* name, const at::Tensor& x) {
    if (x.defined()) out.add(name, x[0]);
  };
  add("mask", layer.executed);
  add("router_logits", layer.logits);
  add("score", layer.score);
  add("target", layer.target);
  for (const auto& [name, signal] : named_signals(layer.signals)) add(name, signal);
  add("dx", layer.residual);
  add("dx_hat", layer.predicted);
  add("execution_gate", layer.execution_gate);
  if (layer.scalars.o_ce.defined()) out.add_object("scalars", scalars_report(layer.scalars));
}

CheckReport layer_report(const LayerRouting& layer, bool dump) {
  CheckReport out;
  const at::Tensor counts = layer.executed[0].sum(-1);
  out.add("layer", layer.layer)
      .add("executed", counts)
      .add("rate", layer.executed.to(at::kDouble).mean().item<double>());
  if (dump) add_signals(out, layer);
  return out;
}

}  // namespace

CheckReport inspect_forward(CheckSubject& subject, const CheckCase& c) {
  const at::NoGradGuard no_grad;
  const CheckModel& m = subject.model(c);
  const at::Tensor tokens = subject.tokens(c);
  const CheckExecution e = inspect_execution(m, c, tokens);
  RoutingRecord record;
  record.teach = c.dump;
  StateKeeper keeper;
  const std::vector<LossTerm> terms = m.model.loss_terms();
  std::vector<at::Tensor> losses(terms.size());
  ForwardContext context{.training = e.training,
                         .step = c.step,
                         .seeds = &m.seeds,
                         .execution = e.execution,
                         .routing = &record};
  if (c.dump) context.watch = {&keeper};
  if (e.training) context.losses = &losses;
  const at::Tensor states = m.model.states(tokens, context);
  const at::Tensor logits = m.model.readout(states);

  CheckReport out = pass_report(subject, c, e, tokens, logits);
  if (e.training) {
    const auto all = static_cast<double>(tokens.numel());
    for (std::size_t i = 0; i < terms.size(); ++i) {
      if (terms[i].observes) continue;  // zero, and not part of the loss
      out.add("loss_" + std::string(terms[i].name), losses[i].item<double>() / all);
    }
  }
  std::vector<CheckReport> layers;
  for (const LayerRouting& layer : record.layers) layers.push_back(layer_report(layer, c.dump));
  out.add("layers", std::move(layers));
  if (!c.dump) return out;
  keeper.states.push_back(states);
  return std::move(out.add("tokens", tokens[0])
                       .add("states", at::stack(keeper.states).squeeze(1))
                       .add("logits", logits[0]));
}

}  // namespace depthgrid
