#include "models/probed_model.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/tensor.h>
#include <torch/csrc/autograd/autograd.h>

#include "core/base/error.hpp"
#include "core/base/nan.hpp"
#include "core/depth/depth_pieces.hpp"
#include "core/depth/observer.hpp"
#include "models/continuous_model.hpp"
#include "models/depth_norms.hpp"
#include "models/gradient_check.hpp"
#include "models/ops/cell_cross_entropy.hpp"
#include "models/ops/host_kernels.hpp"

namespace depthgrid {
namespace {

/// Keeps the state before each step.
class StateCollector final : public Observer {
 public:
  bool wants(std::int64_t /*train_step*/) const override { return true; }
  void on_depth(const DepthEvent& event) override { states.push_back(event.x); }

  std::vector<at::Tensor> states;
};

class ModelTrack final : public DepthTrack {
 public:
  /// The weights of all steps are made here, once and outside of any graph.
  /// @param attention  see ForwardContext; outlives this.
  ModelTrack(const Model& model, TrackPath path,
             const std::function<void(const at::Tensor&)>* attention = nullptr)
      : control_(model.control({})),
        context_{.composed = path == TrackPath::Composed,
                 .execution = Execution{.mode = ExecutionMode::Dense},
                 .attention = attention} {
    const at::NoGradGuard no_grad;
    segments_ = model.segments(context_);
  }

  at::Tensor advance(const at::Tensor& x, std::int64_t from, std::int64_t to) const override {
    return depthgrid::advance(segments_, x, from, to, control_);
  }

  /// All `steps` steps, watched.
  at::Tensor watched(const at::Tensor& x, std::int64_t steps, Observer& observer) const {
    return depthgrid::advance(segments_, x, 0, steps, control_, {.watch = {&observer}});
  }

 private:
  Control control_;
  ForwardContext context_;
  std::vector<DepthSegment> segments_;
};

}  // namespace

std::vector<double> depth_edges(const ModelOptions& o) {
  const std::int64_t replaced = o.flow.replaced();
  const auto layers = static_cast<double>(replaced > 0 ? o.layers : o.depth_steps());
  std::vector<double> edges = {0};
  for (std::int64_t i = 0; i < o.depth_steps(); ++i) {
    // A flow is one block, whose m steps cover the layers that it replaces.
    const std::int64_t inside =
        replaced > 0 ? std::clamp<std::int64_t>(i - o.flow.first + 1, 0, o.solver.steps) : 0;
    const std::int64_t before = i + 1 - inside;  // steps of layers up to here
    const double share =
        inside > 0 ? static_cast<double>(inside) / static_cast<double>(o.solver.steps) : 0;
    edges.push_back((static_cast<double>(before) + share * static_cast<double>(replaced)) / layers);
  }
  return edges;
}

ProbedModel::ProbedModel(const Model& model, ProbeSet set, const Arena* arena)
    : model_(model), arena_(arena), set_(std::move(set)) {
  inputs_ = set_.windows.narrow(1, 0, set_.tokens()).to(model.options().device);
}

ProbedModel::ProbedModel(std::unique_ptr<const WideModel> own, ProbeSet set)
    : own_(std::move(own)), model_(own_->model()), arena_(&own_->arena()), set_(std::move(set)) {
  inputs_ = set_.windows.narrow(1, 0, set_.tokens()).to(model_.options().device);
}

std::unique_ptr<ProbeSubject> ProbedModel::widened() const {
  if (arena_ == nullptr) return nullptr;
  auto wide = std::make_unique<const WideModel>(model_, *arena_);
  return std::unique_ptr<ProbeSubject>(new ProbedModel(std::move(wide), set_));
}

at::Tensor ProbedModel::edge_times() const {
  return at::tensor(depth_edges(model_.options()), at::kDouble).unsqueeze(0).expand({cells(), -1});
}

std::vector<at::Tensor> ProbedModel::states(std::int64_t first, std::int64_t count) const {
  const at::NoGradGuard no_grad;
  StateCollector collector;
  const ForwardContext context{
      .first_row = first,
      .watch = {&collector},
      .execution = Execution{.mode = model_.family().training_mode().mode}};
  at::Tensor last = model_.states(inputs(first, count), context);
  std::vector<at::Tensor> out = std::move(collector.states);
  out.push_back(std::move(last));
  return out;
}

at::Tensor ProbedModel::start(std::int64_t first, std::int64_t count) const {
  const at::NoGradGuard no_grad;
  return model_.embed(inputs(first, count));
}

at::Tensor ProbedModel::inputs(std::int64_t first, std::int64_t count) const {
  return inputs_.narrow(0, first, count).unsqueeze(0).expand({cells(), -1, -1});
}

at::Tensor ProbedModel::targets(std::int64_t first, std::int64_t count) const {
  return set_.windows.narrow(0, first, count)
      .narrow(1, 1, set_.tokens())
      .to(inputs_.device())
      .unsqueeze(0)
      .expand({cells(), -1, -1});
}

std::vector<at::Tensor> ProbedModel::state_gradients(std::int64_t first, std::int64_t count) const {
  const ModelTrack steps(model_, TrackPath::Kernels);
  const at::AutoGradMode gradients(true);
  const auto of_pass = [&](std::int64_t from, std::int64_t rows) {
    StateCollector collector;
    const at::Tensor start = model_.embed(inputs(from, rows)).detach().requires_grad_();
    at::Tensor last = steps.watched(start, depth(), collector);
    std::vector<at::Tensor> states = std::move(collector.states);
    states.push_back(std::move(last));
    const at::Tensor loss =
        cell_cross_entropy(model_.readout(states.back()), targets(from, rows)).sum() /
        static_cast<double>(set_.tokens());
    return torch::autograd::grad({loss}, states);
  };
  // The graph is that of all steps, which a model that is trained without it has no memory for:
  // there one sequence at a time.
  if (model_.options().gradient.mode == GradientMode::Plain) return of_pass(first, count);
  std::vector<std::vector<at::Tensor>> rows(static_cast<std::size_t>(depth() + 1));
  for (std::int64_t i = 0; i < count; ++i) {
    const std::vector<at::Tensor> one = of_pass(first + i, 1);
    for (std::size_t l = 0; l < rows.size(); ++l) rows[l].push_back(one[l]);
  }
  std::vector<at::Tensor> out;
  for (const std::vector<at::Tensor>& row : rows) out.push_back(at::cat(row, 1));
  return out;
}

bool ProbedModel::has_adjoint() const {
  return arena_ != nullptr && model_.options().gradient.mode == GradientMode::Adjoint;
}

bool ProbedModel::has_reversible() const {
  return model_.options().solver.method->reversible();
}

ProbedModel::GradientModeErrors ProbedModel::gradient_mode_errors(std::int64_t first,
                                                                  std::int64_t count) const {
  GradientModeErrors out;
  const at::Tensor tokens = inputs(first, count);
  if (has_adjoint()) out.adjoint = adjoint_error(model_, *arena_, tokens, targets(first, count));
  if (has_reversible()) {
    out.defect = reversible_defect(model_, tokens);
    out.undone = reversible_error(model_, tokens);
  }
  return out;
}

bool ProbedModel::has_field() const {
  return model_.options().routing.layers.empty();
}

ProbedModel::RegularisedNorms ProbedModel::regularised_norms(std::int64_t first, std::int64_t count,
                                                             bool all) const {
  const RegulariserOptions& o = model_.options().regularisers;
  const at::Tensor tokens = inputs(first, count);
  RegularisedNorms out;
  if (!o.directed().empty()) {
    const NormEstimates trained = norm_estimates(model_, tokens, o.iterations);
    out.spectral_estimate = trained.spectral;
    out.log_estimate = trained.log;
  }
  if (!o.directed().empty() || (all && has_field())) {
    const JacobianNorms norms = jacobian_norms(
        model_, tokens, {all || has_spectral_norm(), all || has_log_norm(), /*frobenius=*/all});
    out.spectral = norms.spectral;
    out.log = norms.log;
    out.frobenius = norms.frobenius;
  }
  if (all) out.control_slope = control_slope(model_, tokens);
  return out;
}

std::unique_ptr<DepthTrack> ProbedModel::track(TrackPath path) const {
  return std::make_unique<ModelTrack>(model_, path);
}

std::int64_t ProbedModel::heads() const {
  const ModelOptions& o = model_.options();
  const bool rows = o.flow.field == FieldKind::Mlp && o.flow.replaced() == o.layers;
  return rows ? 0 : o.heads;
}

void ProbedModel::attention(std::int64_t first, std::int64_t count,
                            const AttentionSink& sink) const {
  const at::NoGradGuard no_grad;
  std::int64_t step = 0;
  bool recorded = false;  // of a step of several evaluations the first is recorded
  const std::function<void(const at::Tensor&)> record = [&](const at::Tensor& weights) {
    if (recorded) return;
    recorded = true;
    sink(step, weights.view({cells(), -1, weights.size(1), weights.size(2), weights.size(3)}));
  };
  const ModelTrack steps(model_, TrackPath::Composed, &record);
  at::Tensor x = model_.embed(inputs(first, count));
  for (; step < depth(); ++step, recorded = false) x = steps.advance(x, step, step + 1);
}

void ProbedModel::step_weights(const WeightSink& sink) const {
  const at::NoGradGuard no_grad;
  std::int64_t step = 0;
  for (const BlockWeights& block : model_.family().step_weights()) {
    StepWeights here;
    if (block.qkv.weight.defined()) {
      const at::Tensor qkv = effective_weight(block.qkv);
      const std::vector<at::Tensor> parts = qkv.chunk(3, 1);
      here = {parts[0], parts[1], parts[2], effective_weight(block.out), {}, {}};
    }
    if (block.up.weight.defined()) {
      here.up = effective_weight(block.up);
      here.down = effective_weight(block.down);
    }
    sink(step++, here);
  }
}

at::Tensor ProbedModel::final_norm(const at::Tensor& x) const {
  const WithoutHostKernels composed;  // it follows a track that is differentiated twice
  return model_.normed(x);
}

at::Tensor ProbedModel::logits(const at::Tensor& x) const {
  const at::NoGradGuard no_grad;
  return model_.readout(x);
}

at::Tensor ProbedModel::gate_times() const {
  const at::NoGradGuard no_grad;
  const at::Tensor times = model_.family().gate_times();
  return times.defined() ? times.to(at::kCPU, at::kDouble) : times;
}

std::vector<GateValues> ProbedModel::gates(const at::Tensor& tau) const {
  const at::NoGradGuard no_grad;
  return model_.family().gates(tau.to(model_.options().device));
}

std::vector<DepthFactor> ProbedModel::depth_factors() const {
  const at::NoGradGuard no_grad;
  return model_.family().depth_factors();
}

std::int64_t ProbedModel::continuous_steps() const {
  return arena_ != nullptr ? depthgrid::continuous_steps(model_.options()) : 0;
}

std::unique_ptr<ContinuousDepth> ProbedModel::continuous() const {
  if (continuous_steps() == 0) return nullptr;
  return std::make_unique<ContinuousModel>(model_, *arena_, set_);
}

StateSpaceLayers ProbedModel::state_space() const {
  const at::NoGradGuard no_grad;
  return {model_.family().transitions(), model_.family().state_space_steps()};
}

std::vector<at::Tensor> ProbedModel::state_space_states(std::int64_t first,
                                                        std::int64_t count) const {
  const at::NoGradGuard no_grad;
  std::vector<at::Tensor> out;
  model_.states(inputs(first, count), {.first_row = first, .state_space = &out});
  return out;
}

GateRange ProbedModel::gate_range() const {
  switch (model_.options().modulation.gate) {
    case GateKind::Sigmoid:
      return {0, 1};
    case GateKind::OnePlusTanh:
      return {0, 2};
    default:
      return {kNaN, kNaN};
  }
}

}  // namespace depthgrid
