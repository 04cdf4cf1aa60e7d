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

/// By cell. Errors near the tolerance may be the reference's own: there the order is that of the
/// differences |x_n − x_2n| and |x_2n − x_4n|, which need none.
std::vector<double> observed_orders(const FixedSolve& solve, const at::Tensor& end,
                                    const at::Tensor& reference, double rtol) {
  const at::Tensor halved = solve.run(2 * solve.steps);
  const std::vector<double> coarse = cell_norms(end - reference);
  const std::vector<double> fine = cell_norms(halved - reference), state = cell_norms(reference);
  std::vector<double> own_coarse, own_fine, out;
  for (std::size_t e = 0; e < state.size(); ++e) {
    if (!(fine[e] <= rtol * state[e])) {
      out.push_back(order_of(coarse[e], fine[e], state[e]));
      continue;
    }
    if (own_fine.empty()) {
      own_coarse = cell_norms(end - halved);
      own_fine = cell_norms(halved - solve.run(4 * solve.steps));
    }
    out.push_back(order_of(own_coarse[e], own_fine[e], state[e]));
  }
  return out;
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
  std::vector<MethodRun> out;
  for (const SolverMethod method : methods) {
    MethodRun one;
    std::vector<double> order(state.size(), kNaN);
    std::vector<SolveCost> costs;
    if (method == SolverMethod::Dopri5) {
      AdaptiveSolution solved = adaptive_solve(p.field, p.start, tolerances);
      one.end = std::move(solved.x);
      costs = std::move(solved.cost);
    } else {
      const FixedSolve solve = fixed(p, method);
      one.end = solve.run(solve.steps);
      order = observed_orders(solve, one.end, reference, tolerances.rtol);
      costs.assign(state.size(), {solve.evaluations, solve.steps});
    }
    const std::vector<double> error = cell_norms(one.end - reference);
    const std::vector<double> ends = cell_norms(one.end);
    for (std::size_t e = 0; e < error.size(); ++e) {
      MethodResult r{relative(error[e], state[e]), relative(error[e], moved[e]), order[e],
                     costs[e]};
      if (!std::isfinite(ends[e]) && r.cost.status == SolveStatus::Done) {
        r.cost.status = SolveStatus::NonFinite;
        r.cost.reached = kNaN;  // somewhere before the end
      }
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

std::vector<double> over_displacement(const at::Tensor& end, const at::Tensor& reference,
                                      const at::Tensor& start) {
  std::vector<double> out = cell_norms(end - reference);
  const std::vector<double> moved = cell_norms(reference - start);
  for (std::size_t e = 0; e < out.size(); ++e) {
    out[e] = std::isfinite(out[e]) ? relative(out[e], moved[e]) : kNaN;
  }
  return out;
}

Invariance invariance(double of_displacement) {
  if (std::isnan(of_displacement)) return Invariance::Undecided;
  return of_displacement <= kInvariantDistance ? Invariance::Invariant : Invariance::Not;
}

}  // namespace depthgrid
