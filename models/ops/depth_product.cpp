#include "models/ops/depth_product.hpp"

#include <algorithm>

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/baddbmm.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros_like.h>

#include "core/base/error.hpp"
#include "models/ops/cpu/depth_product_kernel.hpp"
#include "models/ops/graph_node.hpp"
#include "models/ops/host_kernels.hpp"

namespace depthgrid {
namespace {

constexpr std::int64_t kGrain = 4;  // least blocks per thread

bool has_kernel(const at::Tensor& generator) {
  return host_kernels_serve(generator) && generator.scalar_type() == at::kFloat &&
         generator[0].is_contiguous();
}

/// Runs `work(cell, block index, block)` for every block of every cell. m must be contiguous.
template <class Work>
void for_blocks(const at::Tensor& generator, const at::Tensor& base, const at::Tensor& m,
                const Work& work) {
  const std::int64_t cells = m.size(0), layers = m.size(1), hidden = m.size(2);
  const std::int64_t entries = generator.size(2);
  const std::int64_t blocks = (entries + kDepthBlock - 1) / kDepthBlock;
  const auto* g = generator.const_data_ptr<float>();
  const float* start = base.defined() ? base.const_data_ptr<float>() : nullptr;
  at::parallel_for(0, cells * blocks, kGrain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t e = i / blocks, n = i % blocks, first = n * kDepthBlock;
      const DepthBlock block = {
          .generator = g + e * generator.stride(0) + first,
          .base = start == nullptr ? nullptr : start + e * base.stride(0) + first,
          .m = m.const_data_ptr<float>() + e * layers * hidden,
          .layers = layers,
          .hidden = hidden,
          .entries = entries,
          .count = std::min(kDepthBlock, entries - first)};
      work(e, n, block);
    }
  });
}

at::Tensor product(const at::Tensor& generator, const at::Tensor& base, const at::Tensor& m) {
  const at::Tensor rows = m.to(generator.scalar_type()).contiguous();
  if (!has_kernel(generator)) {
    return base.defined() ? at::baddbmm(base, rows, generator) : at::bmm(rows, generator);
  }
  const std::int64_t layers = m.size(1), entries = generator.size(2);
  at::Tensor y = at::empty({m.size(0), layers, entries}, rows.options());
  auto* out = y.mutable_data_ptr<float>();
  for_blocks(generator, base, rows, [&](auto e, auto n, const auto& block) {
    depth_block_forward(block, out + e * layers * entries + n * kDepthBlock);
  });
  return y;
}

/// Adds to the gradients of G and base. @return the gradient of m.
at::Tensor gradients_by_kernel(const at::Tensor& generator, const at::Tensor& dgenerator,
                               const at::Tensor& dbase, const at::Tensor& m, const at::Tensor& dy) {
  const std::int64_t layers = m.size(1), hidden = m.size(2), entries = generator.size(2);
  const std::int64_t blocks = (entries + kDepthBlock - 1) / kDepthBlock;
  at::Tensor dm = at::zeros_like(m);
  const at::Tensor shares = at::empty({m.size(0), blocks, layers * hidden}, m.options());
  auto* share = shares.mutable_data_ptr<float>();
  auto* dg = dgenerator.mutable_data_ptr<float>();
  auto* db = dbase.defined() ? dbase.mutable_data_ptr<float>() : nullptr;
  for_blocks(generator, {}, m, [&](auto e, auto n, const auto& block) {
    const std::int64_t first = n * kDepthBlock;
    depth_block_backward(block,
                         {.dy = dy.const_data_ptr<float>() + e * layers * entries + first,
                          .dgenerator = dg + e * dgenerator.stride(0) + first,
                          .dbase = db == nullptr ? nullptr : db + e * dbase.stride(0) + first,
                          .dm = share + (e * blocks + n) * layers * hidden});
  });
  auto* sum = dm.mutable_data_ptr<float>();
  for (std::int64_t i = 0; i < m.size(0) * blocks; ++i) {  // in the order of the blocks
    float* to = sum + i / blocks * layers * hidden;
    const float* from = share + i * layers * hidden;
    for (std::int64_t j = 0; j < layers * hidden; ++j) to[j] += from[j];
  }
  return dm;
}

class DepthProduct : public GraphNode<DepthProduct> {
 public:
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& generator,
                            const OptionalTensor& base, const at::Tensor& m) {
    ctx->save_for_backward({generator, m});
    ctx->saved_data["generator"] = generator.grad();
    if (base->defined()) ctx->saved_data["base"] = base->grad();
    return product(generator, *base, m);
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    expect_last_derivative("the product with a generator");
    const variable_list saved = ctx->get_saved_variables();
    const at::Tensor& g = saved[0];
    const at::Tensor dg = ctx->saved_data["generator"].toTensor();
    const auto held = ctx->saved_data.find("base");
    const at::Tensor db = held == ctx->saved_data.end() ? at::Tensor() : held->second.toTensor();
    const at::Tensor dy = grads[0].contiguous();
    if (has_kernel(g)) {
      const at::Tensor m = saved[1].to(g.scalar_type()).contiguous();
      return {{}, {}, gradients_by_kernel(g, dg, db, m, dy).to(saved[1].scalar_type())};
    }
    const at::Tensor wide = dy.to(dg.scalar_type()), m = saved[1].to(dg.scalar_type());
    for (std::int64_t e = 0; e < dy.size(0); ++e) dg[e].addmm_(m[e].t(), wide[e]);
    if (db.defined()) db.add_(wide.sum(1, true));
    return {{}, {}, at::bmm(dy, g.transpose(1, 2)).to(saved[1].scalar_type())};
  }
};

}  // namespace

at::Tensor depth_product(const at::Tensor& generator, const at::Tensor& base, const at::Tensor& m) {
  if (!generator.requires_grad()) return product(generator, base, m);
  if (!generator.grad().defined() || (base.defined() && !base.grad().defined())) {
    throw Error("depth_product: the generator's gradient is not preset");
  }
  return DepthProduct::apply(generator, OptionalTensor(base), m);
}

}  // namespace depthgrid
