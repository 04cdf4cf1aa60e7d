#include "core/probe/solver/solver_probe.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/full.h>
#include <ATen/ops/log_softmax.h>

#include "core/base/error.hpp"
#include "core/base/nan.hpp"
#include "core/config/axis_labels.hpp"
#include "core/depth/integrator.hpp"
#include "core/probe/continuous_depth.hpp"
#include "core/probe/solver/independent_layers.hpp"

namespace depthgrid {
namespace {

constexpr std::int64_t kLogits = std::int64_t{1} << 19;  // of one cell at a time, 4 MiB
constexpr std::int64_t kTokens = 128;  // at least, of the set: the reference takes many evaluations
constexpr double kFiner = 100;         // tolerances of `dopri5` over those of the reference
constexpr std::int64_t kMoreSteps = 4;  // that the reference may take; 100^(1/5) = 2.5

/// How the predictions of one state at τ = 1 differ from those of another, mean over tokens, nats.
struct PredictionDistance {
  std::vector<double> divergence;   // (E) KL(p* ‖ p) of the next-token distributions
  std::vector<double> loss_change;  // (E) loss of x less that of the reference
};

/// @param x, reference  (E, B, T, C) at τ = 1. @param targets  (B, T) int64.
PredictionDistance prediction_distance(const ContinuousDepth& depth, const at::Tensor& x,
                                       const at::Tensor& reference, const at::Tensor& targets) {
  const std::int64_t cells = x.size(0), tokens = x.size(2);
  const auto n = static_cast<double>(x.size(1) * tokens);
  PredictionDistance out{std::vector<double>(static_cast<std::size_t>(cells)),
                         std::vector<double>(static_cast<std::size_t>(cells))};
  const at::Tensor index = targets.to(x.device()).unsqueeze(2);
  for (std::int64_t b = 0; b < x.size(1); ++b) {
    const at::Tensor ours = depth.finish(x.narrow(1, b, 1));
    const at::Tensor theirs = depth.finish(reference.narrow(1, b, 1));
    std::int64_t count = 1;  // until the size of the vocabulary is known
    for (std::int64_t first = 0, next = 0; first < tokens; first = next) {
      next = std::min(first + count, tokens);
      const auto scores = [&](const at::Tensor& state) {
        return at::log_softmax(depth.logits(state.narrow(2, first, next - first)), -1);
      };
      const at::Tensor p = scores(ours), q = scores(theirs);
      for (std::int64_t e = 0; e < cells; ++e) {  // cell by cell: bits must not depend on E
        const at::Tensor log_p = p[e][0], log_q = q[e][0];
        const at::Tensor at = index[b].narrow(0, first, next - first);
        const auto cell = static_cast<std::size_t>(e);
        out.divergence[cell] += (log_q.exp() * (log_q - log_p)).sum().item<double>() / n;
        out.loss_change[cell] +=
            (log_q.gather(1, at) - log_p.gather(1, at)).sum().item<double>() / n;
      }
      count = std::max<std::int64_t>(1, kLogits / p.size(3));
    }
  }
  return out;
}

/// Where the speed of the solution is recorded: 33 times from 0 to 1.
std::vector<double> velocity_times() {
  constexpr int kIntervals = 32;
  std::vector<double> out;
  for (int i = 0; i <= kIntervals; ++i) out.push_back(static_cast<double>(i) / kIntervals);
  return out;
}

/// A number of each method, by cell.
template <class Of>
std::vector<std::vector<double>> by_cell(const std::vector<MethodRun>& runs, Of of) {
  std::vector<std::vector<double>> out(runs.front().cells.size());
  for (const MethodRun& run : runs) {
    for (std::size_t e = 0; e < out.size(); ++e) {
      out[e].push_back(static_cast<double>(of(run.cells[e])));
    }
  }
  return out;
}

/// Where the reference failed there is nothing to measure against.
void discard_unmeasured(std::vector<MethodRun>& runs, const std::vector<SolverMethod>& methods,
                        const std::vector<SolveCost>& reference) {
  for (std::size_t i = 0; i < runs.size(); ++i) {
    for (std::size_t e = 0; e < reference.size(); ++e) {
      if (reference[e].status == SolveStatus::Done) continue;
      MethodResult& r = runs[i].cells[e];
      r.of_state = r.of_displacement = r.order = kNaN;
      const bool adaptive = methods[i] == SolverMethod::Dopri5;
      if (!adaptive || r.cost.status != SolveStatus::Done) continue;
      r.cost.status = reference[e].status;
      r.cost.reached = reference[e].reached;
    }
  }
}

}  // namespace

SolverProbe::SolverProbe(const ProbeSubject& subject, SolverOptions options)
    : subject_(subject), options_(std::move(options)) {
  if (options_.methods.empty()) throw Error("probes.solver.methods is empty");
  if (subject_.continuous_steps() == 0) throw Error("no part of this depth discretises a field");
}

void SolverProbe::declare(RecordSink& out) {
  std::vector<std::string> words;
  for (const SolverMethod method : options_.methods) {
    words.emplace_back(kSolverMethodNames[static_cast<std::size_t>(method)]);
  }
  const SeriesAxis methods{
      .name = "solver_method", .length = static_cast<std::int64_t>(words.size()), .labels = words};
  const auto add = [&](Series series, const char* name) {
    series_[series] = out.declare({name, {methods}});
  };
  add(kState, "solver_divergence_state");
  add(kDisplacement, "solver_divergence_displacement");
  add(kOrder, "solver_observed_order");
  add(kEvaluations, "solver_evaluations");
  add(kAccepted, "solver_accepted");
  add(kRejected, "solver_rejected");
  add(kStatus, "solver_status");
  add(kReached, "solver_reached");
  add(kDivergence, "solver_kl");
  add(kLoss, "solver_loss_change");
  series_[kContinuous] = out.declare({"solver_continuous", {}});
  series_[kOwn] = out.declare({"solver_own_divergence", {}});
  series_[kInvariant] = out.declare({"solver_invariant", {}});
  const std::vector<double> tau = velocity_times();
  series_[kVelocity] = out.declare(
      {"solver_velocity",
       {{.name = "flow_time", .length = static_cast<std::int64_t>(tau.size()), .values = tau}}});
  if (!options_.negative_control) return;
  add(kControlDivergence, "solver_control_divergence");
  add(kControlOrder, "solver_control_order");
}

void SolverProbe::measure(std::int64_t /*step*/, RecordSink& out) {
  const at::NoGradGuard no_grad;
  const ProbeSet& set = subject_.set();
  const std::int64_t wanted = (kTokens + set.tokens() - 1) / set.tokens();
  const std::int64_t count = std::min(wanted, set.sequences());
  const std::unique_ptr<ContinuousDepth> depth = subject_.continuous();
  const SolverProblem problem{
      .field = depth->field(),
      .euler = [&](const at::Tensor& x, std::int64_t n) { return depth->euler(x, n); },
      .start = depth->start(0, count),
      .steps = depth->steps()};
  AdaptiveOptions finer = options_.tolerances;
  finer.rtol /= kFiner;
  finer.atol /= kFiner;
  finer.max_steps *= kMoreSteps;
  finer.at = velocity_times();
  const AdaptiveSolution reference = adaptive_solve(problem.field, problem.start, finer);
  std::vector<MethodRun> runs =
      compare_solvers(problem, reference.x, options_.methods, options_.tolerances);
  discard_unmeasured(runs, options_.methods, reference.cost);

  write(kState, by_cell(runs, [](const MethodResult& r) { return r.of_state; }), out);
  write(kDisplacement, by_cell(runs, [](const MethodResult& r) { return r.of_displacement; }), out);
  write(kOrder, by_cell(runs, [](const MethodResult& r) { return r.order; }), out);
  write(kEvaluations, by_cell(runs, [](const MethodResult& r) { return r.cost.evaluations; }), out);
  write(kAccepted, by_cell(runs, [](const MethodResult& r) { return r.cost.accepted; }), out);
  write(kRejected, by_cell(runs, [](const MethodResult& r) { return r.cost.rejected; }), out);
  write(kStatus, by_cell(runs, [](const MethodResult& r) { return r.cost.status; }), out);
  write(kReached, by_cell(runs, [](const MethodResult& r) { return r.cost.reached; }), out);

  std::vector<double> own =
      over_displacement(depth->own(problem.start), reference.x, problem.start);
  for (std::size_t e = 0; e < own.size(); ++e) {
    if (reference.cost[e].status != SolveStatus::Done) own[e] = kNaN;
  }
  write_velocity(problem.field, reference.states, out);
  const at::Tensor targets = set.windows.narrow(0, 0, count).narrow(1, 1, set.tokens());
  std::vector<std::vector<double>> kl(reference.cost.size()), loss(reference.cost.size());
  for (const MethodRun& run : runs) {
    const PredictionDistance d = prediction_distance(*depth, run.end, reference.x, targets);
    for (std::size_t e = 0; e < kl.size(); ++e) {
      const bool measured = !std::isnan(run.cells[e].of_state);
      kl[e].push_back(measured ? d.divergence[e] : kNaN);
      loss[e].push_back(measured ? d.loss_change[e] : kNaN);
    }
  }
  write(kDivergence, kl, out);
  write(kLoss, loss, out);
  std::vector<MethodRun> control;
  if (options_.negative_control) {
    control = write_control(problem.start, reference.x, problem.steps, out);
  }
  write_verdicts(runs, control, own, out);
}

void SolverProbe::write_velocity(const VectorField& field, const std::vector<at::Tensor>& states,
                                 RecordSink& out) const {
  const std::vector<double> tau = velocity_times();
  std::vector<std::vector<double>> speed(static_cast<std::size_t>(states.front().size(0)));
  for (std::size_t i = 0; i < tau.size(); ++i) {
    const at::Tensor& x = states[i];
    const at::Tensor t = at::full({x.size(0)}, tau[i], x.options());
    const std::vector<double> norms = cell_norms(field.evaluate(x, {t, t, 0}, {}).dx);
    const double entries = std::sqrt(static_cast<double>(x[0].numel()));
    for (std::size_t e = 0; e < speed.size(); ++e) speed[e].push_back(norms[e] / entries);
  }
  write(kVelocity, speed, out);
}

void SolverProbe::write_verdicts(const std::vector<MethodRun>& runs,
                                 const std::vector<MethodRun>& control,
                                 const std::vector<double>& own, RecordSink& out) const {
  const auto rk4 = static_cast<std::size_t>(std::ranges::find(options_.methods, SolverMethod::Rk4) -
                                            options_.methods.begin());
  const auto write_one = [&](Series series, std::size_t e, double value) {
    out.write(series_[series], e, {&value, 1});
  };
  for (std::size_t e = 0; e < runs.front().cells.size(); ++e) {
    Continuity found = Continuity::Undecided;
    if (rk4 < runs.size()) {
      const MethodResult& here = runs[rk4].cells[e];
      found = control.empty() ? continuity(here) : continuity(here, control[rk4].cells[e]);
    }
    write_one(kContinuous, e, static_cast<double>(found));
    write_one(kOwn, e, own[e]);
    write_one(kInvariant, e, static_cast<double>(invariance(own[e])));
  }
}

std::vector<MethodRun> SolverProbe::write_control(const at::Tensor& start,
                                                  const at::Tensor& reference, std::int64_t steps,
                                                  RecordSink& out) const {
  IndependentLayers layers(steps, start);
  layers.match(start, cell_norms(reference - start));
  const SolverProblem problem{.field = layers,
                              .euler =
                                  [&](const at::Tensor& x, std::int64_t n) {
                                    const DepthGrid grid = flow_grid(x.size(0), n, x.options());
                                    return DepthIntegrator(kEuler).solve(layers, grid, x, {});
                                  },
                              .start = start,
                              .steps = steps};
  std::vector<MethodRun> runs =
      compare_solvers(problem, layers.solve(start), options_.methods, options_.tolerances);
  write(kControlDivergence, by_cell(runs, [](const MethodResult& r) { return r.of_displacement; }),
        out);
  write(kControlOrder, by_cell(runs, [](const MethodResult& r) { return r.order; }), out);
  return runs;
}

void SolverProbe::write(Series series, const std::vector<std::vector<double>>& by_cell,
                        RecordSink& out) const {
  for (std::size_t e = 0; e < by_cell.size(); ++e) out.write(series_[series], e, by_cell[e]);
}

}  // namespace depthgrid
