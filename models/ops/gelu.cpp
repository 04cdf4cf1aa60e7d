#include "models/ops/gelu.hpp"

#include <cmath>
#include <numbers>

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/tanh.h>

#include "models/ops/cpu/gelu_kernel.hpp"
#include "models/ops/graph_node.hpp"
#include "models/ops/host_kernels.hpp"

namespace depthgrid {
namespace {

constexpr std::int64_t kGeluGrain = 1 << 14;  // least elements per thread

template <class T>
T* data_of(const at::Tensor& x) {
  return static_cast<T*>(x.data_ptr());
}

/// Runs `work(T*(), begin, end)` in parallel, T the element type of x.
template <class Work>
void for_elements(const at::Tensor& x, const Work& work) {
  at::parallel_for(0, x.numel(), kGeluGrain, [&](std::int64_t begin, std::int64_t end) {
    if (x.scalar_type() == at::kFloat) {
      work(static_cast<float*>(nullptr), begin, end);
    } else {
      work(static_cast<std::uint16_t*>(nullptr), begin, end);
    }
  });
}

class CpuGelu : public GraphNode<CpuGelu> {
 public:
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& input, GeluForm form) {
    const at::Tensor x = input.contiguous();
    at::Tensor y = at::empty_like(x);
    for_elements(x, [&]<class T>(T*, std::int64_t begin, std::int64_t end) {
      gelu_forward(form, data_of<const T>(x) + begin, data_of<T>(y) + begin, end - begin);
    });
    ctx->save_for_backward({x});
    ctx->saved_data["tanh"] = form == GeluForm::Tanh;
    return y;
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    expect_last_derivative("GELU");
    const at::Tensor x = ctx->get_saved_variables()[0];
    const at::Tensor dy = grads[0].contiguous();
    at::Tensor dx = at::empty_like(x);
    const GeluForm form = ctx->saved_data["tanh"].toBool() ? GeluForm::Tanh : GeluForm::Erf;
    for_elements(x, [&]<class T>(T*, std::int64_t begin, std::int64_t end) {
      gelu_backward(form, data_of<const T>(x) + begin, data_of<const T>(dy) + begin,
                    data_of<T>(dx) + begin, end - begin);
    });
    return {dx, at::Tensor()};
  }
};

}  // namespace

at::Tensor gelu(GeluForm form, const at::Tensor& x) {
  const bool own =
      host_kernels_serve(x) && (x.scalar_type() == at::kFloat || x.scalar_type() == at::kBFloat16);
  if (own) return CpuGelu::apply(x, form);
  if (form == GeluForm::Erf || !on_host(x)) {
    return at::gelu(x, form == GeluForm::Tanh ? "tanh" : "none");
  }
  const at::Tensor v = x.scalar_type() == at::kBFloat16 ? x.to(at::kFloat) : x;
  const double scale = std::sqrt(2 / std::numbers::pi);
  return (v * 0.5 * (at::tanh((v + v * v * v * 0.044715) * scale) + 1)).to(x.scalar_type());
}

}  // namespace depthgrid
