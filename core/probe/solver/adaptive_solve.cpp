#include "core/probe/solver/adaptive_solve.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <ATen/TensorOperators.h>
#include <ATen/ops/addcmul.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/maximum.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/where.h>

#include "core/base/nan.hpp"
#include "core/cells/cell_set.hpp"
#include "core/depth/rk_step.hpp"
#include "core/depth/tableau.hpp"

namespace depthgrid {
namespace {

constexpr double kBeta = 0.04, kSafety = 0.9, kLargestShrink = 5, kLargestGrowth = 10;

/// The controller of one cell.
struct Controller {
  double t = 0, h = 0, last_error = 1e-4;
  bool running = true, rejected = false, last_finite = true;
  SolveCost cost;

  void end(SolveStatus status) {
    cost.status = status;
    running = false;
  }

  /// Step to attempt: the last one ends at 1 exactly.
  double next() const { return running ? std::min(h, 1 - t) : 0; }

  /// Whether the attempt of length `step` with this error is accepted; chooses the next length.
  bool judge(double step, double error, const AdaptiveOptions& o) {
    last_finite = std::isfinite(error);
    const double power = std::pow(error, 0.2 - 0.75 * kBeta);
    const bool accepted = last_finite && error <= 1;
    if (accepted) {
      ++cost.accepted;
      const double factor = std::clamp(power / std::pow(last_error, kBeta) / kSafety,
                                       1 / kLargestGrowth, kLargestShrink);
      t = step >= 1 - t ? 1 : t + step;
      h = rejected ? std::min(step / factor, step) : step / factor;
      last_error = std::max(error, 1e-4);
    } else {
      ++cost.rejected;
      h = step / (last_finite ? std::min(kLargestShrink, power / kSafety) : kLargestShrink);
    }
    rejected = !accepted;
    if (t >= 1) {
      running = false;
    } else if (h < o.min_step) {
      end(last_finite ? SolveStatus::MinStep : SolveStatus::NonFinite);
    } else if (cost.accepted + cost.rejected >= o.max_steps) {
      end(SolveStatus::MaxSteps);
    }
    return accepted;
  }
};

/// RMS over each sequence, largest over the batch, by cell. Cell by cell, so that bits do not
/// depend on how many there are.
std::vector<double> norms(const at::Tensor& x) {
  std::vector<double> out;
  for (std::int64_t e = 0; e < x.size(0); ++e) {
    double most = 0;
    for (std::int64_t b = 0; b < x.size(1); ++b) {
      const at::Tensor row = x[e][b].contiguous();
      const double mean = row.pow(2).mean().item<double>();
      most = std::isnan(mean) || mean > most ? mean : most;
      if (std::isnan(most)) break;
    }
    out.push_back(std::sqrt(most));
  }
  return out;
}

at::Tensor cells_of(const std::vector<double>& values, const at::Tensor& like) {
  return at::tensor(values, at::kDouble).to(like.device());
}

/// Lengths of the first steps, by one further evaluation.
std::vector<double> first_steps(const VectorField& field, const at::Tensor& x, const at::Tensor& k,
                                const AdaptiveOptions& o) {
  const at::Tensor scale = x.abs() * o.rtol + o.atol;
  const std::vector<double> size = norms(x / scale), speed = norms(k / scale);
  std::vector<double> small;
  for (std::size_t e = 0; e < size.size(); ++e) {
    const double h = size[e] < 1e-5 || speed[e] < 1e-5 ? 1e-6 : 0.01 * size[e] / speed[e];
    small.push_back(std::isfinite(h) ? std::min(h, 1.0) : 0);
  }
  const at::Tensor h = cells_of(small, x);
  const at::Tensor moved = field.evaluate(at::addcmul(x, per_cell(h, x), k), {h, h, 0}, {}).dx;
  const std::vector<double> change = norms((moved - k) / scale);
  std::vector<double> out;
  for (std::size_t e = 0; e < size.size(); ++e) {
    const double bend = std::max(speed[e], change[e] / small[e]);
    const double step =
        bend <= 1e-15 ? std::max(1e-6, small[e] * 1e-3) : std::pow(0.01 / bend, 0.2);
    out.push_back(std::isfinite(step) ? std::min({100 * small[e], step, 1.0}) : 0);
  }
  return out;
}

/// One attempt of all cells.
struct Attempt {
  const at::Tensor& x;
  const RkStep& step;
  const at::Tensor& h;
};

/// Of the cells whose step is accepted, the states at those of the times that lie in it.
void keep_states(const std::vector<double>& wanted, const Attempt& attempt,
                 const std::vector<double>& times, const std::vector<double>& steps,
                 const std::vector<double>& moves, std::vector<at::Tensor>& kept) {
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    std::vector<double> share(times.size(), 0), inside(times.size(), 0);
    for (std::size_t e = 0; e < times.size(); ++e) {
      const bool last = times[e] + steps[e] >= 1;
      const bool here =
          moves[e] > 0 && wanted[i] > times[e] && (last || wanted[i] <= times[e] + steps[e]);
      if (!here) continue;
      share[e] = std::min(1.0, (wanted[i] - times[e]) / steps[e]);
      inside[e] = 1;
    }
    if (std::ranges::count(inside, 1.0) == 0) continue;
    const at::Tensor x = attempt.x;
    const at::Tensor state = dense_output(x, attempt.step, attempt.h, cells_of(share, x));
    kept[i] = at::where(per_cell(cells_of(inside, x).gt(0), x), state, kept[i]);
  }
}

}  // namespace

AdaptiveSolution adaptive_solve(const VectorField& field, const at::Tensor& x0,
                                const AdaptiveOptions& o) {
  const auto cells = static_cast<std::size_t>(x0.size(0));
  std::vector<Controller> of(cells);
  at::Tensor x = x0;
  const at::Tensor start = cells_of(std::vector<double>(cells, 0.0), x0);
  at::Tensor slope = field.evaluate(x, {start, start, 0}, {}).dx;
  const std::vector<double> first = first_steps(field, x, slope, o);
  const std::vector<double> size = norms(x), speed = norms(slope);
  for (std::size_t e = 0; e < cells; ++e) {
    of[e].cost.evaluations = 2;
    of[e].h = first[e];
    const bool sound = std::isfinite(size[e]) && std::isfinite(speed[e]) && first[e] > 0;
    if (!sound) of[e].end(SolveStatus::NonFinite);
  }
  std::vector<at::Tensor> kept;
  for (const double tau : o.at) kept.push_back(tau <= 0 ? x0 : at::full_like(x0, kNaN));
  while (std::ranges::any_of(of, [](const Controller& c) { return c.running; })) {
    std::vector<double> times, steps;
    for (const Controller& c : of) {
      times.push_back(c.t);
      steps.push_back(c.next());
    }
    const at::Tensor h = cells_of(steps, x);
    const RkStep step = rk_step(kDopri5, field, x, {cells_of(times, x), h, 0}, h, {}, slope);
    const at::Tensor scale = at::maximum(x.abs(), step.x.abs()) * o.rtol + o.atol;
    const std::vector<double> error = norms(local_error(kDopri5, h, step.k) / scale);
    std::vector<double> moves;
    for (std::size_t e = 0; e < cells; ++e) {
      const bool went = of[e].running;
      if (went) of[e].cost.evaluations += 6;
      moves.push_back(went && of[e].judge(steps[e], error[e], o) ? 1.0 : 0.0);
    }
    keep_states(o.at, {x, step, h}, times, steps, moves, kept);
    const at::Tensor accepted = per_cell(cells_of(moves, x).gt(0), x);
    x = at::where(accepted, step.x, x);
    slope = at::where(accepted, step.k.back(), slope);
  }
  AdaptiveSolution out{std::move(x), {}, std::move(kept)};
  for (Controller& c : of) {
    if (c.cost.status != SolveStatus::Done) c.cost.reached = c.t;
    out.cost.push_back(c.cost);
  }
  return out;
}

}  // namespace depthgrid
