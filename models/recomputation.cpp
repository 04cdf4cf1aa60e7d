#include "models/recomputation.hpp"

#include <algorithm>
#include <vector>

#include "core/depth/treeverse.hpp"

namespace depthgrid {
namespace {

/// Steps that one solve takes.
struct DepthRun {
  std::int64_t steps = 0;
  std::int64_t evaluations = 0;  // of one step that is neither the first nor the last
  bool flow = false;             // taken by the solver
  bool field = false;            // of a field of its own, else of ordinary blocks
};

std::vector<DepthRun> runs_of(const ModelOptions& o) {
  const FlowOptions& f = o.flow;
  const Stepper& method = *o.solver.method;
  const std::int64_t each = method.evaluations(3) - method.evaluations(2);
  if (o.solved()) return {{o.depth_steps(), each, true}};
  if (f.replaced() == 0 || f.field == FieldKind::Block) return {{o.depth_steps(), 1}};
  std::vector<DepthRun> out = {
      {f.first, 1}, {o.solver.steps, each, true, true}, {o.layers - f.last, 1}};
  std::erase_if(out, [](const DepthRun& run) { return run.steps == 0; });
  return out;
}

/// State and memory of a method.
double carried(const ModelOptions& o, const DepthRun& run) {
  if (!run.flow || o.solver.method->coefficients() != nullptr) return 1;
  return o.solver.method->reversible() ? 3 : 2;
}

/// Evaluations of the field in the backward pass over a run.
double again(const ModelOptions& o, const DepthRun& run) {
  const std::int64_t m = run.steps;
  switch (o.gradient.mode) {
    case GradientMode::Plain:
      return 0;
    case GradientMode::Checkpoint: {
      const std::int64_t advanced = treeverse::advances(m, std::min(o.gradient.slots, m)) - (m - 1);
      // Of a method whose first step costs more, that step is taken again as often as the others.
      const std::int64_t all = run.flow ? o.solver.method->evaluations(m) : m;
      return static_cast<double>(advanced * run.evaluations + all);
    }
    case GradientMode::Reversible:
      return run.flow ? static_cast<double>(2 * m + 1) : 0;
    case GradientMode::Adjoint:
      return run.flow ? static_cast<double>(o.solver.method->evaluations(m)) : 0;
  }
  return 0;
}

bool recomputed(const ModelOptions& o, const DepthRun& run) {
  return o.gradient.mode == GradientMode::Checkpoint ||
         (o.gradient.mode != GradientMode::Plain && run.flow);
}

}  // namespace

Recomputation recomputation(const ModelOptions& o) {
  Recomputation out;
  for (const DepthRun& run : runs_of(o)) {
    (run.field ? out.evaluations : out.layers) += again(o, run);
  }
  return out;
}

KeptActivations kept_activations(const ModelOptions& o) {
  KeptActivations out;
  double most = 0;  // evaluations with a tape of their own, one run at a time
  bool of_field = false;
  for (const DepthRun& run : runs_of(o)) {
    if (!recomputed(o, run)) {
      const std::int64_t all = run.flow ? o.solver.method->evaluations(run.steps) : run.steps;
      (run.field ? out.evaluations : out.layers) += static_cast<double>(all);
      continue;
    }
    const bool keeps = o.gradient.mode == GradientMode::Checkpoint;
    const auto states = static_cast<double>(keeps ? std::min(o.gradient.slots, run.steps) + 1 : 1);
    out.states += states * carried(o, run);
    const auto taped = static_cast<double>(run.evaluations);
    if (taped >= most) {
      most = taped;
      of_field = run.field;
    }
  }
  (of_field ? out.evaluations : out.layers) += most;
  return out;
}

}  // namespace depthgrid
