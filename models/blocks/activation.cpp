#include "models/blocks/activation.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/tanh.h>

#include "core/base/error.hpp"
#include "models/ops/gelu.hpp"
#include "models/ops/softplus.hpp"

namespace depthgrid {
at::Tensor logistic(const at::Tensor& x) {
  return (at::tanh(x * 0.5) + 1) * 0.5;
}

at::Tensor squash(GateKind kind, const at::Tensor& g) {
  switch (kind) {
    case GateKind::Sigmoid:
      return logistic(g);
    case GateKind::OnePlusTanh:
      return at::tanh(g) + 1;
    default:
      return g;
  }
}

at::Tensor activate(Activation kind, const at::Tensor& x) {
  switch (kind) {
    case Activation::Gelu:
      return gelu(GeluForm::Erf, x);
    case Activation::GeluTanh:
      return gelu(GeluForm::Tanh, x);
    case Activation::Relu:
      return at::relu(x);
    case Activation::Silu:
      return x * logistic(x);
    case Activation::Tanh:
      return at::tanh(x);
    case Activation::Softplus:
      return softplus_of_states(x.scalar_type() == at::kBFloat16 ? x.to(at::kFloat) : x);
    case Activation::Swiglu: {
      const std::int64_t half = x.size(-1) / 2;
      const at::Tensor a = x.narrow(-1, 0, half);
      return a * logistic(a) * x.narrow(-1, half, half);
    }
  }
  throw Error("unknown activation");
}

}  // namespace depthgrid
