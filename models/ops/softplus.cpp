#include "models/ops/softplus.hpp"

#include <algorithm>
#include <cmath>

#include <ATen/Dispatch.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/clamp_min.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/expm1.h>
#include <ATen/ops/log1p.h>
#include <ATen/ops/softplus.h>

#include "models/ops/graph_node.hpp"
#include "models/ops/host_kernels.hpp"

namespace depthgrid {
namespace {

class CpuSoftplus : public GraphNode<CpuSoftplus> {
 public:
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& input) {
    const at::Tensor x = input.contiguous();
    at::Tensor y = at::empty_like(x);
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "softplus", [&] {
      const scalar_t* from = x.const_data_ptr<scalar_t>();
      std::transform(from, from + x.numel(), y.mutable_data_ptr<scalar_t>(), [](scalar_t v) {
        return std::max(v, scalar_t(0)) + std::log1p(std::exp(-std::abs(v)));
      });
    });
    ctx->save_for_backward({x});
    return y;
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    expect_last_derivative("softplus");
    const at::Tensor x = ctx->get_saved_variables()[0];
    const at::Tensor dy = grads[0].contiguous();
    at::Tensor dx = at::empty_like(x);
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "softplus_backward", [&] {
      const scalar_t* from = x.const_data_ptr<scalar_t>();
      std::transform(from, from + x.numel(), dy.const_data_ptr<scalar_t>(),
                     dx.mutable_data_ptr<scalar_t>(),
                     [](scalar_t v, scalar_t g) { return g / (1 + std::exp(-v)); });
    });
    return {dx};
  }
};

/// Of operations that treat all elements alike: m + log(e^(x-m) + e^-m) with m = max(x, 0), which
/// is a constant, so that all derivatives are the right ones also at 0.
at::Tensor by_elements(const at::Tensor& x) {
  const at::Tensor m = at::clamp_min(x.detach(), 0);
  return m + at::log1p(at::exp(x - m) + at::expm1(-m));
}

}  // namespace

at::Tensor softplus(const at::Tensor& x) {
  if (host_kernels_serve(x)) return CpuSoftplus::apply(x);
  if (on_host(x)) return by_elements(x);
  // Beyond its threshold LibTorch's is x itself; at its default of 20 that is a jump of 2e-9.
  constexpr double kThreshold = 40;  // exp(-40) is below the last bit of a double
  return at::softplus(x, 1, kThreshold);
}

}  // namespace depthgrid
