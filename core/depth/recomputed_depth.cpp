#include "core/depth/recomputed_depth.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/utils.h>
#include <torch/csrc/autograd/variable.h>

#include "core/base/error.hpp"
#include "core/base/nan.hpp"
#include "core/cells/cell_set.hpp"
#include "core/depth/adjoint_solve.hpp"
#include "core/depth/integrator.hpp"
#include "core/depth/observer.hpp"
#include "core/depth/step_tape.hpp"
#include "core/depth/treeverse.hpp"

namespace depthgrid {
namespace {

using torch::autograd::variable_list;

DepthState detached(const DepthState& s) {
  DepthState out{s.x.detach()};
  for (const at::Tensor& m : s.memory) out.memory.push_back(m.detach());
  return out;
}

/// State, memory and losses of a step, as one list.
std::vector<at::Tensor> results_of(const DepthStep& step) {
  std::vector<at::Tensor> out = {step.after.x};
  out.insert(out.end(), step.after.memory.begin(), step.after.memory.end());
  out.insert(out.end(), step.losses.begin(), step.losses.end());
  return out;
}

/// A solve as a node of the graph. Its outputs are the last state and the sums of losses.
class RecomputedSolve final : public torch::autograd::Node {
 public:
  RecomputedSolve(const Stepper& method, GradientPlan plan, FieldPtr field, DepthGrid grid,
                  Control u, std::shared_ptr<const void> context)
      : method_(method),
        plan_(plan),
        field_(std::move(field)),
        grid_(std::move(grid)),
        u_(std::move(u)),
        context_(std::move(context)) {}

  std::string name() const override { return "RecomputedSolve"; }

  /// The forward pass. @return the last state, not yet a part of the graph.
  at::Tensor forward(const at::Tensor& x0, const DepthPass& pass) {
    const std::int64_t steps = grid_.steps();
    const std::vector<Observer*> watch = awake(pass);
    std::vector<std::int64_t> keep = {steps};  // the last state
    if (plan_.mode == GradientMode::Checkpoint) {
      keep = treeverse::kept(steps, plan_.slots);
      keep.insert(keep.end(), {0, steps - 1});  // the latter is at hand as the backward pass begins
    }
    if (plan_.mode == GradientMode::Reversible) keep.push_back(0);  // to be compared with
    DepthState state{x0.detach()};
    for (std::int64_t i = 0; i < steps; ++i) {
      keep_if_in(keep, i, state);
      const StepTape tape(state);
      DepthStep step = method_.step(*field_, grid_, i, tape.inputs(), u_);
      places_.push_back(tape.captures(results_of(step), captured_));
      decided_.push_back(step.decided.defined() ? step.decided.detach() : at::Tensor());
      for (Observer* o : watch) o->on_depth({pass.train_step, grid_.at(i), state.x, step.gate, {}});
      for (at::Tensor& loss : step.losses) {
        if (loss.defined()) loss = loss.detach();
      }
      add_losses(step.losses, pass);
      state = detached(step.after);
    }
    keep_if_in(keep, steps, state);
    return state.x;
  }

  /// Places it into the graph. @param outputs  last state and losses, as values.
  static void attach(const std::shared_ptr<RecomputedSolve>& node, const at::Tensor& x0,
                     std::vector<at::Tensor*> outputs) {
    node->add_next_edge(x0.requires_grad() ? torch::autograd::impl::gradient_edge(x0)
                                           : torch::autograd::Edge());
    for (const torch::autograd::Edge& edge : node->captured_.edges()) node->add_next_edge(edge);
    for (at::Tensor* y : outputs) {
      if (!y->defined()) {
        node->add_input_metadata(torch::autograd::Node::undefined_input());
        continue;
      }
      *y = y->variable_data();
      torch::autograd::set_history(*y, node);
    }
  }

  bool captures_any() const { return !captured_.edges().empty(); }

  void release_variables() override {
    kept_.clear();
    decided_.clear();
    field_.reset();
    context_.reset();
    grid_ = {};
    u_ = {};
  }

 protected:
  variable_list apply(variable_list&& gradients) override {
    if (field_ == nullptr) {
      throw Error("the backward pass of a recomputed depth is taken once: its states are freed");
    }
    if (at::GradMode::is_enabled()) {
      throw Error("a recomputed depth is differentiated only once: use model.gradient.mode plain");
    }
    gradient_ = {std::move(gradients[0])};
    loss_gradients_.assign(std::make_move_iterator(gradients.begin() + 1),
                           std::make_move_iterator(gradients.end()));
    const std::int64_t steps = grid_.steps();
    switch (plan_.mode) {
      case GradientMode::Checkpoint:
        reverse(0, steps, kept_.at(0), std::min(plan_.slots, steps), true);
        break;
      case GradientMode::Reversible:
        undo(kept_.at(steps));
        break;
      case GradientMode::Adjoint:
        gradient_.x = solve_adjoint({*method_.coefficients(), *field_, grid_, u_, places_},
                                    kept_.at(steps).x, gradient_.x, captured_);
        break;
      case GradientMode::Plain:
        break;
    }
    variable_list out = {std::move(gradient_.x)};
    for (at::Tensor& g : captured_.gradients) out.push_back(std::move(g));
    release_variables();
    return out;
  }

 private:
  void keep_if_in(const std::vector<std::int64_t>& keep, std::int64_t i, const DepthState& state) {
    if (std::ranges::count(keep, i) > 0) kept_[i] = state;
  }

  /// Steps begin … end - 1, the last first. @param first  the forward pass has just swept over
  /// them.
  void reverse(std::int64_t begin, std::int64_t end, const DepthState& state, std::int64_t slots,
               bool first) {
    const std::int64_t steps = end - begin;
    if (steps == 1) return taken(begin, state);
    if (slots == 1) {
      for (std::int64_t i = end - 1; i >= begin; --i) {
        const bool at_hand = first && i == end - 1;
        taken(i, at_hand ? std::move(kept_.at(i)) : advanced(begin, i, state));
      }
      return;
    }
    const std::int64_t middle = begin + treeverse::cut(steps, slots);
    {
      const DepthState there = first ? std::move(kept_.at(middle)) : advanced(begin, middle, state);
      reverse(middle, end, there, slots - 1, first);
    }
    reverse(begin, middle, state, slots, false);
  }

  DepthState advanced(std::int64_t begin, std::int64_t end, DepthState state) const {
    const at::NoGradGuard no_grad;
    for (std::int64_t i = begin; i < end; ++i) state = step(i, state).after;
    return state;
  }

  void undo(DepthState after) {
    for (std::int64_t i = grid_.steps() - 1; i >= 0; --i) {
      {
        const at::NoGradGuard no_grad;
        after = method_.before(*field_, grid_, i, after, u_).value();
      }
      taken(i, after);
    }
    const at::Tensor wrong = undone_error(kept_.at(0).x, after.x).le(kUndoneBound).logical_not();
    const auto poison = [&](at::Tensor& g) {
      if (g.defined()) g = g.masked_fill(per_cell(wrong, g), kNaN);
    };
    poison(gradient_.x);
    for (at::Tensor& g : captured_.gradients) poison(g);
  }

  DepthStep step(std::int64_t i, const DepthState& state) const {
    return method_.step(*field_, grid_, i, state, u_, decided_[static_cast<std::size_t>(i)]);
  }

  /// Step i with a tape, and its part of the backward pass.
  void taken(std::int64_t i, const DepthState& state) {
    const StepTape tape(state);
    const DepthStep again = step(i, tape.inputs());
    std::vector<at::Tensor> cotangents = {gradient_.x};
    cotangents.insert(cotangents.end(), gradient_.memory.begin(), gradient_.memory.end());
    cotangents.resize(1 + again.after.memory.size());  // nothing reads the last memory
    if (!again.losses.empty()) {
      cotangents.insert(cotangents.end(), loss_gradients_.begin(), loss_gradients_.end());
      cotangents.resize(1 + again.after.memory.size() + again.losses.size());
    }
    gradient_ = tape.pull_back(results_of(again), cotangents, places_[static_cast<std::size_t>(i)],
                               captured_);
  }

  const Stepper& method_;
  GradientPlan plan_;
  FieldPtr field_;
  DepthGrid grid_;
  Control u_;
  std::shared_ptr<const void> context_;
  std::map<std::int64_t, DepthState> kept_;       // by the step that it precedes
  std::vector<at::Tensor> decided_;               // by step
  std::vector<std::vector<std::size_t>> places_;  // by step
  CapturedGradients captured_;
  StateGradient gradient_;
  std::vector<at::Tensor> loss_gradients_;
};

std::shared_ptr<RecomputedSolve> new_node(const Stepper& method, GradientPlan plan, FieldPtr field,
                                          const DepthGrid& grid, const Control& u,
                                          std::shared_ptr<const void> context) {
  return {new RecomputedSolve(method, plan, std::move(field), grid, u, std::move(context)),
          torch::autograd::deleteNode};
}

}  // namespace

at::Tensor undone_error(const at::Tensor& x0, const at::Tensor& undone) {
  const auto norm = [](const at::Tensor& x) {
    return x.to(at::kDouble).square().flatten(1).sum(1).sqrt();
  };
  return norm(undone - x0) / norm(x0);
}

RecomputedDepth::RecomputedDepth(const Stepper& method, GradientPlan plan,
                                 std::shared_ptr<const void> context)
    : method_(method), plan_(plan), context_(std::move(context)) {
  const std::string named = "'" + std::string(method.name()) + "'";
  if (plan.mode == GradientMode::Reversible && !method.reversible()) {
    throw Error(named + " cannot be reversed: reversible_heun can");
  }
  if (plan.mode == GradientMode::Adjoint && method.coefficients() == nullptr) {
    throw Error("the adjoint is integrated by a Runge-Kutta method, which " + named + " is not");
  }
}

at::Tensor RecomputedDepth::solve(const VectorField& field, const DepthGrid& grid,
                                  const at::Tensor& x0, const Control& u,
                                  const DepthPass& pass) const {
  if (plan_.mode == GradientMode::Plain || !at::GradMode::is_enabled() || grid.steps() == 0) {
    return DepthIntegrator(method_).solve(field, grid, x0, u, pass);
  }
  method_.expect_runs(field, grid);
  FieldPtr owned = field.weak_from_this().lock();
  if (owned == nullptr) throw Error("a recomputed depth needs a field that a FieldPtr owns");
  const auto node = new_node(method_, plan_, std::move(owned), grid, u, context_);
  std::vector<at::Tensor> losses(pass.losses == nullptr ? 0 : pass.losses->size());
  DepthPass own = pass;
  own.losses = pass.losses == nullptr ? nullptr : &losses;
  at::Tensor x = node->forward(x0, own);
  std::vector<at::Tensor*> outputs = {&x};
  for (at::Tensor& loss : losses) outputs.push_back(&loss);
  if (x0.requires_grad() || node->captures_any()) RecomputedSolve::attach(node, x0, outputs);
  add_losses(losses, pass);
  return x;
}

}  // namespace depthgrid
