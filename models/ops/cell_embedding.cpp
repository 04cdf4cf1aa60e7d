#include "models/ops/cell_embedding.hpp"

#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/stack.h>

#include "core/base/error.hpp"
#include "models/ops/graph_node.hpp"
#include "models/ops/host_kernels.hpp"

namespace depthgrid {
namespace {

std::vector<std::int64_t> output_sizes(const at::Tensor& table, const at::Tensor& ids) {
  std::vector<std::int64_t> sizes = ids.sizes().vec();
  sizes.push_back(table.size(2));
  return sizes;
}

at::Tensor look_up(const at::Tensor& table, const at::Tensor& ids) {
  if (!host_kernels_serve(table)) {
    std::vector<at::Tensor> cells;
    for (std::int64_t e = 0; e < table.size(0); ++e) {
      cells.push_back(table[e].index_select(0, ids[e].flatten()));
    }
    return at::stack(cells).view(output_sizes(table, ids));
  }
  const at::Tensor index = ids.contiguous();
  const std::int64_t cells = table.size(0), width = table.size(2), n = index.numel() / cells;
  at::Tensor out = at::empty(output_sizes(table, ids), table.options());
  AT_DISPATCH_FLOATING_TYPES(table.scalar_type(), "cell_embedding", [&] {
    const auto* id = index.const_data_ptr<std::int64_t>();
    for (std::int64_t e = 0; e < cells; ++e) {
      const scalar_t* rows = table.const_data_ptr<scalar_t>() + e * table.stride(0);
      scalar_t* to = out.mutable_data_ptr<scalar_t>() + e * n * width;
      for (std::int64_t i = 0; i < n; ++i) {
        std::copy_n(rows + id[e * n + i] * width, width, to + i * width);
      }
    }
  });
  return out;
}

/// Adds each token's gradient to its row; one thread per cell.
void scatter_add(const at::Tensor& into, const at::Tensor& ids, const at::Tensor& grad) {
  if (!host_kernels_serve(into)) {
    for (std::int64_t e = 0; e < into.size(0); ++e) {
      into[e].index_add_(0, ids[e].flatten(), grad[e].flatten(0, 1).to(into.scalar_type()));
    }
    return;
  }
  const at::Tensor index = ids.contiguous();
  const at::Tensor dy = grad.to(into.scalar_type()).contiguous();
  const std::int64_t width = into.size(2), n = index.numel() / into.size(0);
  AT_DISPATCH_FLOATING_TYPES(into.scalar_type(), "cell_embedding_backward", [&] {
    const auto* id = index.const_data_ptr<std::int64_t>();
    at::parallel_for(0, into.size(0), 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t e = begin; e < end; ++e) {
        scalar_t* rows = into.mutable_data_ptr<scalar_t>() + e * into.stride(0);
        const scalar_t* from = dy.const_data_ptr<scalar_t>() + e * n * width;
        for (std::int64_t i = 0; i < n; ++i) {
          scalar_t* row = rows + id[e * n + i] * width;
          for (std::int64_t c = 0; c < width; ++c) row[c] += from[i * width + c];
        }
      }
    });
  });
}

class Embedding : public GraphNode<Embedding> {
 public:
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& table, const at::Tensor& ids) {
    ctx->save_for_backward({ids});
    ctx->saved_data["grad"] = table.grad();
    return look_up(table, ids);
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    expect_last_derivative("the embedding");
    scatter_add(ctx->saved_data["grad"].toTensor(), ctx->get_saved_variables()[0], grads[0]);
    return {at::Tensor(), at::Tensor()};
  }
};

}  // namespace

at::Tensor cell_embedding(const at::Tensor& table, const at::Tensor& ids) {
  if (!table.requires_grad()) return look_up(table, ids);
  if (!table.grad().defined()) throw Error("cell_embedding: the table's gradient is not preset");
  return Embedding::apply(table, ids);
}

}  // namespace depthgrid
