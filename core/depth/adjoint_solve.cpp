#include "core/depth/adjoint_solve.hpp"

#include <utility>

#include <ATen/TensorOperators.h>

#include "core/cells/cell_set.hpp"

namespace depthgrid {
namespace {

using Weights = std::array<double, Tableau::kMaxStages>;

/// y + sign sum_j w_j k_j over the first `stages` increments.
at::Tensor advanced(at::Tensor y, double sign, const Weights& w, const std::vector<at::Tensor>& k,
                    std::size_t stages) {
  for (std::size_t j = 0; j < stages; ++j) {
    if (w[j] != 0 && k[j].defined()) y = y + (sign * w[j]) * k[j];
  }
  return y;
}

}  // namespace

at::Tensor solve_adjoint(const AdjointProblem& p, at::Tensor x, at::Tensor a,
                         CapturedGradients& captured) {
  const std::size_t stages = p.method.needed();
  for (std::int64_t i = p.grid.steps() - 1; i >= 0; --i) {
    const DepthPoint begin = p.grid.at(i);
    const at::Tensor span = p.grid.span.select(1, i);
    const at::Tensor h = per_cell(begin.h.detach().to(x.scalar_type()), x);
    const std::vector<std::size_t>& places = p.places[static_cast<std::size_t>(i)];
    std::vector<at::Tensor> k, l;  // h f and h (df/dx)^T a, per stage
    std::vector<at::Tensor> sums = std::move(captured.gradients);
    for (std::size_t s = 0; s < stages; ++s) {
      const at::Tensor y = advanced(x, -1, p.method.a[s], k, s);
      const at::Tensor cotangent = h * advanced(a, 1, p.method.a[s], l, s);
      DepthPoint at = begin;
      at.t = begin.t + (1 - p.method.c[s]) * span;
      at.stage = static_cast<std::int64_t>(s);
      const StepTape tape({y});
      const at::Tensor f = p.field.evaluate(tape.inputs().x, at, p.u).dx;
      captured.gradients.assign(sums.size(), {});
      k.push_back(h * f.detach());
      l.push_back(tape.pull_back({f}, {cotangent}, places, captured).x);
      const double weight = p.method.b[s];
      for (const std::size_t place : places) {
        const at::Tensor& g = captured.gradients[place];
        if (weight == 0 || !g.defined()) continue;
        sums[place] = sums[place].defined() ? sums[place] + weight * g : weight * g;
      }
    }
    captured.gradients = std::move(sums);
    x = advanced(std::move(x), -1, p.method.b, k, stages);
    a = advanced(std::move(a), 1, p.method.b, l, stages);
  }
  return a;
}

}  // namespace depthgrid
