#include "models/depth_norms.hpp"

#include <vector>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/autograd.h>

#include "core/cells/cell_rng.hpp"
#include "core/probe/lyapunov/tangent_map.hpp"
#include "models/regularisers/dominant_direction.hpp"
#include "models/regularisers/penalised_stepper.hpp"

namespace depthgrid {
namespace {

constexpr std::int64_t kLanczosSteps = 30;
constexpr std::int64_t kDraws = 16;

/// Normal numbers that every cell shares, so that cells are compared on the same ones.
/// @return (E, ...), cast to the dtype and device of `like`
at::Tensor shared_normal(at::IntArrayRef sizes, const at::Tensor& like, DrawPoint point) {
  std::vector<std::int64_t> one = sizes.vec();
  one[0] = 1;
  const at::Tensor out = at::empty(one, like.options().dtype(at::kFloat).requires_grad(false));
  fill_normal(out, {0}, point);
  return out.to(like.scalar_type()).expand(sizes);
}

/// (E, B) -> (E) double, host.
at::Tensor mean_over_sequences(const at::Tensor& x) {
  return x.detach().to(at::kDouble).mean(1).cpu();
}

/// ‖J‖²_F by the size of the state, from products with random signs. @return (E, B)
at::Tensor mean_square_of_products(const TangentMap& j, const at::Tensor& x, std::int64_t step) {
  at::Tensor square = at::zeros({x.size(0), x.size(1)}, x.options().requires_grad(false));
  for (std::int64_t k = 0; k < kDraws; ++k) {
    const DrawPoint point{stream_id("probes/gradients/jacobian"), step * kDraws + k, 0};
    const at::Tensor moved = j.forward(shared_normal(x.sizes(), x, point).sign());
    square += inner_product(moved, moved) / static_cast<double>(kDraws);
  }
  return square / static_cast<double>(x.size(2) * x.size(3));
}

}  // namespace

JacobianNorms jacobian_norms(const Stepper& method, const VectorField& field, const DepthGrid& grid,
                             const at::Tensor& x, const Control& u, const at::Tensor& starts,
                             JacobianNormChoice wanted) {
  JacobianNorms out;
  const at::Tensor zero = at::zeros({x.size(0)}, at::kDouble);
  if (wanted.spectral) out.spectral = zero.clone();
  if (wanted.log) out.log = zero.clone();
  if (wanted.frobenius) out.frobenius = zero.clone();
  DepthState state{x.detach()};
  const at::Tensor from = starts.detach().narrow(1, 0, x.size(2)).unsqueeze(1).to(x.scalar_type());
  at::Tensor right = from.expand(x.sizes()), growing = right;
  for (std::int64_t i = 0; i < grid.steps(); ++i) {
    const DepthPoint at = grid.at(i);
    const at::AutoGradMode enabled(true);
    const at::Tensor here = field.enter(state.x, at, u).detach().requires_grad_(true);
    const TangentMap j(here, field.evaluate(here, at, u).dx);
    const at::Tensor h = at.h.detach().to(at::kCPU, at::kDouble);
    if (wanted.spectral) {
      right = dominant_direction([&](const at::Tensor& v) { return j.transposed(j.forward(v)); },
                                 right, kLanczosSteps);
      const at::Tensor image = j.forward(right);
      out.spectral += h * mean_over_sequences(inner_product(image, image).sqrt());
    }
    if (wanted.log) {
      growing = dominant_direction(
          [&](const at::Tensor& v) { return (j.forward(v) + j.transposed(v)) / 2; }, growing,
          kLanczosSteps);
      out.log += h * mean_over_sequences(inner_product(growing, j.forward(growing)));
    }
    if (wanted.frobenius)
      out.frobenius += h * mean_over_sequences(mean_square_of_products(j, x, i));
    const at::NoGradGuard no_grad;
    state = method.step(field, grid, i, state, u).after;
  }
  return out;
}

JacobianNorms jacobian_norms(const Model& model, const at::Tensor& tokens,
                             JacobianNormChoice wanted) {
  const ForwardContext context{.composed = true};
  const std::vector<DepthSegment> depth = model.segments(context);
  const Control& u = model.control({});
  at::Tensor x = model.embed(tokens).detach();
  for (const DepthSegment& s : depth) {
    if (regularised(s, depth)) {
      const bool trained = !model.directions().empty();
      const at::Tensor starts =
          trained ? model.directions().front()
                  : shared_normal({x.size(0), x.size(2), x.size(3)}, x,
                                  {stream_id("probes/gradients/direction"), 0, 0});
      return jacobian_norms(*s.method->stepper(), *s.field, s.grid, x, u, starts, wanted);
    }
    const at::NoGradGuard no_grad;
    x = s.method->solve(*s.field, s.grid, x, u);
  }
  return {};
}

at::Tensor control_slope(const Model& model, const at::Tensor& tokens) {
  const ModelOptions& o = model.options();
  if (o.control.axes == 0 || o.control.as_prefix) return {};
  const at::Tensor own = model.control({}).u;
  const at::Tensor none = at::zeros({1, 1, 1, 1}, model.embed(tokens).options());
  const at::Tensor signal = (own.defined() ? own.to(none.scalar_type()) : none)
                                .detach()
                                .expand({tokens.size(0), tokens.size(1), 1, o.control.axes})
                                .contiguous();
  const at::AutoGradMode enabled(true);
  const at::Tensor u = signal.requires_grad_(true);
  const at::Tensor last = model.states(tokens, {.composed = true, .control = {u}});
  const at::Tensor weight = at::zeros_like(last).detach().requires_grad_(true);
  const at::Tensor pulled = graph_of_pull_back(last, u, weight);  // linear in the weight
  at::Tensor square = at::zeros({u.size(0), u.size(1)}, last.options().requires_grad(false));
  for (std::int64_t axis = 0; axis < o.control.axes && pulled.requires_grad(); ++axis) {
    const at::Tensor one = at::zeros_like(pulled).detach();
    one.select(3, axis).fill_(1);
    const at::Tensor moved = torch::autograd::grad({pulled}, {weight}, {one}, true, false, true)[0];
    if (moved.defined()) square += inner_product(moved, moved);
  }
  return mean_over_sequences((square / static_cast<double>(tokens.size(2) * o.width)).sqrt());
}

}  // namespace depthgrid
