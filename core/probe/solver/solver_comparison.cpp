#include "core/probe/solver/solver_comparison.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include <ATen/TensorOperators.h>

#include "core/base/error.hpp"
#include "core/base/nan.hpp"
#include "core/config/axis_labels.hpp"
#include "core/depth/integrator.hpp"

namespace depthgrid {
namespace {

constexpr double kRounding = 1e-13;

/// A method of fixed steps.
struct FixedSolve {
  std::int64_t steps, evaluations;
  std::function<at::Tensor(std::int64_t steps)> run;
};

FixedSolve fixed(const SolverProblem& p, SolverMethod method) {
  if (method == SolverMethod::Rk4) {
    const std::int64_t n = p.steps + 1;
    return {n, 4 * n, [&p](std::int64_t steps) {
              const DepthGrid grid = flow_grid(p.start.size(0), steps, p.start.options());
              return DepthIntegrator(kRk4).solve(p.field, grid, p.start, {});
            }};
  }
  const std::int64_t n = method == SolverMethod::Euler2M ? 2 * p.steps : p.steps;
  return {n, n, [&p](std::int64_t steps) { return p.euler(p.start, steps); }};
}

/// Of an error; NaN over nothing: a state that is 0, or did not move.
double relative(double error, double size) {
  return size > 0 ? error / size : kNaN;
}

double order_of(double coarse, double fine, double state) {
  const bool measured = coarse > kRounding * state && fine > kRounding * state;
  return measured ? std::log2(coarse / fine) : kNaN;
}

}  // namespace

SolverMethod solver_method(std::string_view word) {
  const auto at = std::ranges::find(kSolverMethodNames, word);
  if (at == kSolverMethodNames.end()) {
    throw Error("no method is called '" + std::string(word) +
                "'; there are euler_m, euler_2m, rk4, dopri5");
  }
  return static_cast<SolverMethod>(at - kSolverMethodNames.begin());
}

std::vector<double> cell_norms(const at::Tensor& x) {
  std::vector<double> out;
  for (std::int64_t e = 0; e < x.size(0); ++e) {
    out.push_back(x[e].contiguous().norm().item<double>());
  }
  return out;
}

std::vector<MethodRun> compare_solvers(const SolverProblem& p, const at::Tensor& reference,
                                       const std::vector<SolverMethod>& methods,
                                       const AdaptiveOptions& tolerances) {
  const std::vector<double> state = cell_norms(reference), moved = cell_norms(reference - p.start);
  const auto errors = [&](const at::Tensor& end) { return cell_norms(end - reference); };
  std::vector<MethodRun> out;
  for (const SolverMethod method : methods) {
    MethodRun one;
    std::vector<double> halved;
    std::vector<SolveCost> costs;
    if (method == SolverMethod::Dopri5) {
      AdaptiveSolution solved = adaptive_solve(p.field, p.start, tolerances);
      one.end = std::move(solved.x);
      costs = std::move(solved.cost);
    } else {
      const FixedSolve solve = fixed(p, method);
      one.end = solve.run(solve.steps);
      halved = errors(solve.run(2 * solve.steps));
      costs.assign(state.size(), {solve.evaluations, solve.steps, 0, SolveStatus::Done});
    }
    const std::vector<double> error = errors(one.end);
    const std::vector<double> ends = cell_norms(one.end);
    for (std::size_t e = 0; e < error.size(); ++e) {
      MethodResult r{relative(error[e], state[e]), relative(error[e], moved[e]),
                     halved.empty() ? kNaN : order_of(error[e], halved[e], state[e]), costs[e]};
      if (!std::isfinite(ends[e])) r.cost.status = SolveStatus::NonFinite;
      if (r.cost.status != SolveStatus::Done) r.of_state = r.of_displacement = r.order = kNaN;
      one.cells.push_back(r);
    }
    out.push_back(std::move(one));
  }
  return out;
}

Continuity continuity(const MethodResult& rk4) {
  if (std::isnan(rk4.of_displacement) || std::isnan(rk4.order)) return Continuity::Undecided;
  const bool holds = rk4.of_displacement <= kContinuousDistance && rk4.order >= kContinuousOrder;
  return holds ? Continuity::Continuous : Continuity::Not;
}

Continuity continuity(const MethodResult& rk4, const MethodResult& control) {
  const Continuity own = continuity(rk4);
  const bool shown = own != Continuity::Continuous || continuity(control) == Continuity::Not;
  return shown ? own : Continuity::Undecided;
}

}  // namespace depthgrid
