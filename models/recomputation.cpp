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

/// Regularisers are of a flow, or of the whole depth.
bool regularised(const ModelOptions& o, const DepthRun& run) {
  return run.field || o.flow.replaced() == 0;
}

}  // namespace

Recomputation recomputation(const ModelOptions& o) {
  Recomputation out;
  for (const DepthRun& run : runs_of(o)) {
    (run.field ? out.evaluations : out.layers) += again(o, run);
  }
  return out;
}

namespace {

/// The products by which a step's directions are followed.
double following(const RegulariserOptions& r) {
  const auto kinds = static_cast<double>(r.directed().size());
  if (kinds == 0) return 0;
  return 1 + kinds * 2 * static_cast<double>(r.iterations + 1);
}

/// Passes of a secant in the control signal: the moved one and, where the map of the signal has a
/// bias and text has no signal, that of u = 0.
int secant_passes(const ModelOptions& o) {
  return o.control.bias && !o.control.trained() ? 2 : 1;
}

/// Steps of the part of the depth that is regularised.
std::int64_t regularised_steps(const ModelOptions& o) {
  return o.flow.replaced() > 0 ? o.solver.steps : o.depth_steps();
}

/// Evaluations that a regularised step keeps beside its own: of the field ahead, and the graphs of
/// products, each as large as the evaluation's own and that of its gradient.
double kept_by_regularisers(const RegulariserOptions& r) {
  const double products = (r.has(Regulariser::JacobianFrobenius) ? 1.0 : 0.0) +
                          static_cast<double>(r.directed().size()) + (r.directed().empty() ? 0 : 1);
  return 2 * products + (r.has(Regulariser::Acceleration) ? 1.0 : 0.0);
}

}  // namespace

Regularisation regularisation(const ModelOptions& o) {
  const RegulariserOptions& r = o.regularisers;
  Regularisation out;
  if (r.has(Regulariser::ControlSmoothness)) out.passes = 3.0 * secant_passes(o);
  double step = following(r);
  if (r.has(Regulariser::Acceleration)) step += 3;
  if (r.has(Regulariser::JacobianFrobenius)) step += 3;
  if (r.has(Regulariser::SpectralNorm)) step += 4;
  if (r.has(Regulariser::LogNorm)) step += 3;
  const auto steps = static_cast<double>(regularised_steps(o));
  out.evaluations = steps * step;
  if (o.gradient.mode != GradientMode::Checkpoint) return out;
  // The forward pass has no tape that is kept; steps that are taken again follow directions again.
  const std::int64_t m = regularised_steps(o);
  const auto advanced =
      static_cast<double>(treeverse::advances(m, std::min(o.gradient.slots, m)) - (m - 1));
  const double forward = r.of_jacobian() ? 1 : 0;
  out.evaluations += steps * (step / 2) + advanced * (following(r) + forward);
  return out;
}

KeptActivations kept_activations(const ModelOptions& o) {
  KeptActivations out;
  double most = 0;  // evaluations with a tape of their own, one run at a time
  bool of_field = false;
  const double added = kept_by_regularisers(o.regularisers);
  for (const DepthRun& run : runs_of(o)) {
    if (!recomputed(o, run)) {
      const std::int64_t all = run.flow ? o.solver.method->evaluations(run.steps) : run.steps;
      const double more = regularised(o, run) ? static_cast<double>(run.steps) * added : 0;
      (run.field ? out.evaluations : out.layers) += static_cast<double>(all) + more;
      continue;
    }
    const bool keeps = o.gradient.mode == GradientMode::Checkpoint;
    const auto states = static_cast<double>(keeps ? std::min(o.gradient.slots, run.steps) + 1 : 1);
    out.states += states * carried(o, run);
    const double taped = static_cast<double>(run.evaluations) + (regularised(o, run) ? added : 0);
    if (taped >= most) {
      most = taped;
      of_field = run.field;
    }
  }
  (of_field ? out.evaluations : out.layers) += most;
  if (o.regularisers.has(Regulariser::ControlSmoothness)) {
    out.layers *= 1 + secant_passes(o);
    out.evaluations *= 1 + secant_passes(o);
  }
  return out;
}

}  // namespace depthgrid
