#include "core/depth/rk_step.hpp"

#include <array>

#include <ATen/TensorOperators.h>
#include <ATen/ops/addcmul.h>
#include <ATen/ops/zeros_like.h>

#include "core/cells/cell_set.hpp"

namespace depthgrid {
namespace {

using Weights = std::array<double, Tableau::kMaxStages>;

/// y + sum_j w_j h k_j over the first `stages` slopes: one pass over the state per slope.
at::Tensor advance(at::Tensor y, const Weights& w, const at::Tensor& h,
                   const std::vector<at::Tensor>& k, std::size_t stages) {
  for (std::size_t j = 0; j < stages; ++j) {
    if (w[j] != 0) y = at::addcmul(y, w[j] == 1 ? h : w[j] * h, k[j]);
  }
  return y;
}

}  // namespace

RkStep rk_step(const Tableau& m, const VectorField& field, const at::Tensor& x,
               const DepthPoint& at, const at::Tensor& span, const Control& u,
               const at::Tensor& first, std::size_t stages) {
  const at::Tensor h =
      per_cell(at.h.to(x.scalar_type()), x);  // h to the state's dtype, not vice versa
  RkStep out;
  out.k.resize(stages);
  if (first.defined()) out.k[0] = first;
  for (std::size_t s = first.defined() ? 1 : 0; s < stages; ++s) {
    const at::Tensor y = advance(x, m.a[s], h, out.k, s);
    const at::Tensor t = m.c[s] == 0 ? at.t : at.t + m.c[s] * span;
    FieldValue value =
        field.evaluate(y, {t, at.h, at.step, static_cast<std::int64_t>(s), at.decided}, u);
    out.k[s] = std::move(value.dx);
    if (s > 0) continue;
    out.gate = std::move(value.gate);
    out.losses = std::move(value.losses);
    out.decided = std::move(value.decided);
  }
  out.x = advance(x, m.b, h, out.k, stages);
  return out;
}

at::Tensor dense_output(const at::Tensor& x, const RkStep& step, const at::Tensor& h,
                        const at::Tensor& share) {
  constexpr std::array<double, Tableau::kMaxStages> kDense = {
      -12715105075.0 / 11282082432.0,  0,
      87487479700.0 / 32700410799.0,   -10690763975.0 / 1880347072.0,
      701980252875.0 / 199316789632.0, -1453857185.0 / 822651844.0,
      69997945.0 / 29380423.0};
  const std::vector<at::Tensor>& k = step.k;
  const at::Tensor length = per_cell(h, x), u = per_cell(share, x);
  const at::Tensor whole = step.x - x;
  const at::Tensor begin = length * k.front() - whole;
  const at::Tensor end = whole - length * k.back() - begin;
  const at::Tensor bend = advance(at::zeros_like(x), kDense, length, k, k.size());
  return x + u * (whole + (1 - u) * (begin + u * (end + (1 - u) * bend)));
}

at::Tensor local_error(const Tableau& m, const at::Tensor& h, const std::vector<at::Tensor>& k) {
  return advance(at::zeros_like(k[0]), m.error, per_cell(h, k[0]), k, m.stages);
}

}  // namespace depthgrid
