#include "models/ops/depth_product.hpp"

#include <vector>

#include <ATen/TensorOperators.h>
#include <ATen/ops/baddbmm.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/stack.h>
#include <torch/csrc/autograd/custom_function.h>

#include "core/base/error.hpp"

namespace depthgrid {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr std::int64_t kPiece = 1024;  // entries of N; a small product each, never split

at::Tensor product(const at::Tensor& generator, const at::Tensor& base, const at::Tensor& m) {
  const at::Tensor columns = generator.transpose(1, 2);
  return base.defined() ? at::baddbmm(base, m, columns) : at::bmm(m, columns);
}

/// dy G of one cell, (L, N)·(N, h), summed over pieces of N. Over all of N at once the product
/// would be split among threads, and its bits would depend on their number.
at::Tensor hidden_gradient(const at::Tensor& dy, const at::Tensor& generator) {
  const std::int64_t entries = dy.size(1), pieces = entries / kPiece, whole = pieces * kPiece;
  const at::Tensor rest =
      at::mm(dy.narrow(1, whole, entries - whole), generator.narrow(0, whole, entries - whole));
  if (pieces == 0) return rest;
  const at::Tensor rows = dy.narrow(1, 0, whole).view({-1, pieces, kPiece}).transpose(0, 1);
  const at::Tensor columns = generator.narrow(0, 0, whole).view({pieces, kPiece, -1});
  return at::bmm(rows, columns).sum(0) + rest;
}

class DepthProduct : public torch::autograd::Function<DepthProduct> {
 public:
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& generator,
                            const at::Tensor& base, const at::Tensor& m) {
    ctx->save_for_backward({generator, m});
    ctx->saved_data["generator"] = generator.grad();
    ctx->saved_data["base"] = base.defined() ? base.grad() : at::Tensor();
    return product(generator, base, m);
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const variable_list saved = ctx->get_saved_variables();
    const at::Tensor generator = ctx->saved_data["generator"].toTensor();
    const at::Tensor base = ctx->saved_data["base"].toTensor();
    const at::Tensor given = grads[0].contiguous();
    const at::Tensor dy = given.to(generator.scalar_type());
    const at::Tensor m = saved[1].to(generator.scalar_type());
    std::vector<at::Tensor> dm;
    // One product a cell: a batched one into the arena's rows would take another path for one cell
    // than for several.
    for (std::int64_t e = 0; e < dy.size(0); ++e) {
      generator[e].addmm_(dy[e].t(), m[e]);
      if (base.defined()) base[e].add_(dy[e].sum(0, true));
      dm.push_back(hidden_gradient(given[e], saved[0][e]));
    }
    return {at::Tensor(), at::Tensor(), at::stack(dm)};
  }
};

}  // namespace

at::Tensor depth_product(const at::Tensor& generator, const at::Tensor& base, const at::Tensor& m) {
  if (!generator.requires_grad()) return product(generator, base, m);
  if (!generator.grad().defined() || (base.defined() && !base.grad().defined())) {
    throw Error("depth_product: the generator's gradient is not preset");
  }
  return DepthProduct::apply(generator, base, m);
}

}  // namespace depthgrid
