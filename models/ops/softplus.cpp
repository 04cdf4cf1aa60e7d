#include "models/ops/softplus.hpp"

#include <algorithm>
#include <cmath>

#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/clamp_min.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/expm1.h>
#include <ATen/ops/log1p.h>
#include <ATen/ops/softplus.h>

#include "models/ops/cpu/softplus_kernel.hpp"
#include "models/ops/graph_node.hpp"
#include "models/ops/host_kernels.hpp"

namespace depthgrid {
namespace {

/// One number after another: the bits of parameters and of depth-time networks.
struct OneByOne {
  static void forward(const at::Tensor& x, at::Tensor& y) {
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "softplus", [&] {
      const scalar_t* from = x.const_data_ptr<scalar_t>();
      std::transform(from, from + x.numel(), y.mutable_data_ptr<scalar_t>(), [](scalar_t v) {
        return std::max(v, scalar_t(0)) + std::log1p(std::exp(-std::abs(v)));
      });
    });
  }

  static void backward(const at::Tensor& x, const at::Tensor& dy, at::Tensor& dx) {
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "softplus_backward", [&] {
      const scalar_t* from = x.const_data_ptr<scalar_t>();
      std::transform(from, from + x.numel(), dy.const_data_ptr<scalar_t>(),
                     dx.mutable_data_ptr<scalar_t>(),
                     [](scalar_t v, scalar_t g) { return g / (1 + std::exp(-v)); });
    });
  }
};

/// float32 in vector registers, on several threads.
struct InRegisters {
  static constexpr std::int64_t kGrain = 1 << 14;  // least elements per thread

  static void forward(const at::Tensor& x, at::Tensor& y) {
    const float* from = x.const_data_ptr<float>();
    float* to = y.mutable_data_ptr<float>();
    at::parallel_for(0, x.numel(), kGrain, [=](std::int64_t begin, std::int64_t end) {
      softplus_forward(from + begin, to + begin, end - begin);
    });
  }

  static void backward(const at::Tensor& x, const at::Tensor& dy, at::Tensor& dx) {
    const float* place = x.const_data_ptr<float>();
    const float* from = dy.const_data_ptr<float>();
    float* to = dx.mutable_data_ptr<float>();
    at::parallel_for(0, x.numel(), kGrain, [=](std::int64_t begin, std::int64_t end) {
      softplus_backward(place + begin, from + begin, to + begin, end - begin);
    });
  }
};

template <class Way>
class CpuSoftplus : public GraphNode<CpuSoftplus<Way>> {
 public:
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& input) {
    const at::Tensor x = input.contiguous();
    at::Tensor y = at::empty_like(x);
    Way::forward(x, y);
    ctx->save_for_backward({x});
    return y;
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    expect_last_derivative("softplus");
    const at::Tensor x = ctx->get_saved_variables()[0];
    at::Tensor dx = at::empty_like(x);
    Way::backward(x, grads[0].contiguous(), dx);
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
  if (host_kernels_serve(x)) return CpuSoftplus<OneByOne>::apply(x);
  if (on_host(x)) return by_elements(x);
  // Beyond its threshold LibTorch's is x itself; at its default of 20 that is a jump of 2e-9.
  constexpr double kThreshold = 40;  // exp(-40) is below the last bit of a double
  return at::softplus(x, 1, kThreshold);
}

at::Tensor softplus_of_states(const at::Tensor& x) {
  const bool own = host_kernels_serve(x) && x.scalar_type() == at::kFloat;
  return own ? CpuSoftplus<InRegisters>::apply(x) : depthgrid::softplus(x);
}

}  // namespace depthgrid
