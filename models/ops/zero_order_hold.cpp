#include "models/ops/zero_order_hold.hpp"

#include <array>
#include <cmath>

#include <ATen/Dispatch.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/expm1.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/where.h>

#include "models/ops/graph_node.hpp"
#include "models/ops/host_kernels.hpp"

namespace depthgrid {
namespace {

constexpr double kSeriesBelow = 0.1;
constexpr int kTerms = 10;  // of the series of φ₁': the next one is below 1e-17 relative
constexpr int kDoublings = 8;

constexpr double factorial(int n) {
  return n < 2 ? 1.0 : n * factorial(n - 1);
}

/// φ₁'(z) = Σ (k+1)/(k+2)! z^k, by Horner's rule; for a number or a tensor.
template <class Z>
Z slope_series(const Z& z) {
  Z sum = z * 0 + kTerms / factorial(kTerms + 1);
  for (int k = kTerms - 2; k >= 0; --k) sum = sum * z + (k + 1) / factorial(k + 2);
  return sum;
}

double response_of(double z) {
  return z == 0 ? 1 : std::expm1(z) / z;
}

double slope_of(double z) {
  return std::abs(z) < kSeriesBelow ? slope_series(z) : (std::exp(z) - response_of(z)) / z;
}

/// dz of one element on the CPU.
double pull_back(double z, double d_transition, double d_response) {
  return d_transition * std::exp(z) + d_response * slope_of(z);
}

class ElementwiseHold : public GraphNode<ElementwiseHold> {
 public:
  static variable_list forward(AutogradContext* ctx, const at::Tensor& input, bool composed) {
    const at::Tensor z = input.contiguous();
    ctx->save_for_backward({z});
    ctx->saved_data["composed"] = composed;
    if (composed) {
      const at::Tensor wide = z.to(at::kDouble);
      const at::Tensor zero = wide.eq(0);
      const at::Tensor response = at::where(zero, 1.0, at::expm1(wide) / (wide + zero));
      return {wide.exp().to(z.scalar_type()), response.to(z.scalar_type())};
    }
    const at::Tensor transition = at::empty_like(z);
    const at::Tensor response = at::empty_like(z);
    AT_DISPATCH_FLOATING_TYPES(z.scalar_type(), "zero_order_hold", [&] {
      const scalar_t* from = z.const_data_ptr<scalar_t>();
      scalar_t* e = transition.mutable_data_ptr<scalar_t>();
      scalar_t* phi = response.mutable_data_ptr<scalar_t>();
      for (std::int64_t i = 0; i < z.numel(); ++i) {
        const double wide = from[i];
        e[i] = static_cast<scalar_t>(std::exp(wide));
        phi[i] = static_cast<scalar_t>(response_of(wide));
      }
    });
    return {transition, response};
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const at::Tensor z = ctx->get_saved_variables()[0];
    const at::Tensor d_transition = grads[0].contiguous(), d_response = grads[1].contiguous();
    if (ctx->saved_data["composed"].toBool()) {
      const at::Tensor wide = z.to(at::kDouble);
      const at::Tensor near = wide.abs().lt(kSeriesBelow);
      const at::Tensor far = at::where(near, 1.0, wide);  // unused where near
      const at::Tensor slope =
          at::where(near, slope_series(wide), (far.exp() - at::expm1(far) / far) / far);
      return {(d_transition * wide.exp() + d_response * slope).to(z.scalar_type()), {}};
    }
    expect_last_derivative("the zero-order hold");
    at::Tensor dz = at::empty_like(z);
    AT_DISPATCH_FLOATING_TYPES(z.scalar_type(), "zero_order_hold_backward", [&] {
      const scalar_t* from = z.const_data_ptr<scalar_t>();
      const scalar_t* e = d_transition.const_data_ptr<scalar_t>();
      const scalar_t* phi = d_response.const_data_ptr<scalar_t>();
      scalar_t* to = dz.mutable_data_ptr<scalar_t>();
      for (std::int64_t i = 0; i < z.numel(); ++i) {
        to[i] = static_cast<scalar_t>(pull_back(from[i], e[i], phi[i]));
      }
    });
    return {dz, {}};
  }
};

}  // namespace

Hold zero_order_hold(const at::Tensor& z, bool composed) {
  const variable_list out = ElementwiseHold::apply(z, composed || !host_kernels_serve(z));
  return {out[0], out[1]};
}

Hold matrix_zero_order_hold(const at::Tensor& z) {
  constexpr auto kWeights = [] {  // of φ₁: 1/(k+1)!
    std::array<double, 9> w{};
    for (int k = 0; k < 9; ++k) w[static_cast<std::size_t>(k)] = 1 / factorial(k + 1);
    return w;
  }();
  const at::Tensor small = (z.to(at::kDouble) * std::ldexp(1.0, -kDoublings)).flatten(0, -3);
  const at::Tensor identity = at::eye(z.size(-1), small.options().requires_grad(false));
  const at::Tensor square = at::bmm(small, small);
  const at::Tensor cube = at::bmm(square, small);
  const auto part = [&](std::size_t k) {
    return identity * kWeights[k] + small * kWeights[k + 1] + square * kWeights[k + 2];
  };
  at::Tensor response = part(0) + at::bmm(cube, part(3) + at::bmm(cube, part(6)));
  at::Tensor transition = identity + at::bmm(small, response);
  for (int i = 0; i < kDoublings; ++i) {
    response = at::bmm(transition + identity, response) * 0.5;
    transition = at::bmm(transition, transition);
  }
  const auto shaped = [&](const at::Tensor& m) { return m.view(z.sizes()).to(z.scalar_type()); };
  return {shaped(transition), shaped(response)};
}

}  // namespace depthgrid
