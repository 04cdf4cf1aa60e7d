#include "models/ops/per_cell_norm.hpp"

#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include "core/base/error.hpp"
#include "core/cells/queued_tensor.hpp"
#include "models/ops/cpu/row_norm_kernel.hpp"
#include "models/ops/graph_node.hpp"
#include "models/ops/host_kernels.hpp"

namespace depthgrid {
namespace {

/// Blocks of rows of (E, B, T, C) that never cross a cell.
struct Blocks {
  std::int64_t cells, rows, channels, per_cell;

  explicit Blocks(const at::Tensor& x)
      : cells(x.size(0)),
        rows(x.numel() / std::max<std::int64_t>(x.size(0) * x.size(-1), 1)),
        channels(x.size(-1)),
        per_cell((rows + kNormRowsPerBlock - 1) / kNormRowsPerBlock) {}

  std::int64_t count() const { return cells * per_cell; }
  std::int64_t first_row(std::int64_t block) const {
    return block / per_cell * rows + block % per_cell * kNormRowsPerBlock;
  }
  std::int64_t rows_of(std::int64_t block) const {
    return std::min(kNormRowsPerBlock, rows - block % per_cell * kNormRowsPerBlock);
  }
};

template <class T>
NormRows<T> block_of(const Blocks& blocks, std::int64_t block, const at::Tensor& x,
                     const at::Tensor& scale, const at::Tensor& shift, const double* eps,
                     bool centred) {
  const std::int64_t e = block / blocks.per_cell;
  const auto row_of = [&](const at::Tensor& v) {
    return v.defined() ? v.const_data_ptr<T>() + e * v.stride(0) : nullptr;
  };
  return {x.const_data_ptr<T>() + blocks.first_row(block) * blocks.channels,
          row_of(scale),
          row_of(shift),
          blocks.rows_of(block),
          blocks.channels,
          eps[e],
          centred};
}

/// Adds the sums of a cell's blocks in order. partial (E, blocks, C) -> (E, C)
template <class T>
at::Tensor in_order(const at::Tensor& partial) {
  const at::Tensor out = at::zeros({partial.size(0), partial.size(2)}, partial.options());
  const std::int64_t n = partial.size(2);
  for (std::int64_t e = 0; e < partial.size(0); ++e) {
    T* to = out.mutable_data_ptr<T>() + e * n;
    const T* from = partial.const_data_ptr<T>() + e * partial.size(1) * n;
    for (std::int64_t b = 0; b < partial.size(1); ++b, from += n) {
      for (std::int64_t c = 0; c < n; ++c) to[c] += from[c];
    }
  }
  return out;
}

/// y with the statistics of each row, (E · rows), for the backward pass.
struct Normed {
  at::Tensor y, mean, inverse;
};

/// @param x  contiguous. @param eps  (E). @param keep  whether to save the statistics.
Normed norm_rows(const at::Tensor& x, const at::Tensor& scale, const at::Tensor& shift,
                 const double* eps, bool centred, bool keep) {
  const Blocks blocks(x);
  Normed out{at::empty_like(x), {}, {}};
  if (keep) {
    out.mean = at::empty({blocks.cells * blocks.rows}, x.options());
    out.inverse = at::empty_like(out.mean);
  }
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "per_cell_norm", [&] {
    const auto kept = [](const at::Tensor& v, std::int64_t row) -> scalar_t* {
      return v.defined() ? v.mutable_data_ptr<scalar_t>() + row : nullptr;
    };
    at::parallel_for(0, blocks.count(), 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t b = begin; b < end; ++b) {
        const std::int64_t row = blocks.first_row(b);
        norm_forward(block_of<scalar_t>(blocks, b, x, scale, shift, eps, centred),
                     out.y.mutable_data_ptr<scalar_t>() + row * blocks.channels,
                     kept(out.mean, row), kept(out.inverse, row));
      }
    });
  });
  return out;
}

class CpuNorm : public GraphNode<CpuNorm> {
 public:
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& input,
                            const OptionalTensor& optional_scale,
                            const OptionalTensor& optional_shift, const at::Tensor& eps,
                            bool centred) {
    const at::Tensor &scale = *optional_scale, &shift = *optional_shift;
    const at::Tensor x = input.contiguous();
    const Normed out =
        norm_rows(x, scale, shift, eps.const_data_ptr<double>(), centred, /*keep=*/true);
    ctx->save_for_backward({x, scale, shift, out.mean, out.inverse, eps});
    ctx->saved_data["centred"] = centred;
    return out.y;
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    expect_last_derivative("the norm");
    const variable_list saved = ctx->get_saved_variables();
    const at::Tensor &x = saved[0], &scale = saved[1], &shift = saved[2];
    const Blocks blocks(x);
    const at::Tensor dy = grads[0].contiguous();
    at::Tensor dx = at::empty_like(x);
    const auto partial = [&](const at::Tensor& v) {
      return v.defined() ? at::zeros({blocks.cells, blocks.per_cell, blocks.channels}, x.options())
                         : at::Tensor();
    };
    const at::Tensor dscale = partial(scale);
    const at::Tensor dshift = partial(shift);
    variable_list out(5);
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "per_cell_norm_backward", [&] {
      const auto part = [&](const at::Tensor& v, std::int64_t b) -> scalar_t* {
        return v.defined() ? v.mutable_data_ptr<scalar_t>() + b * blocks.channels : nullptr;
      };
      at::parallel_for(0, blocks.count(), 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t b = begin; b < end; ++b) {
          const std::int64_t row = blocks.first_row(b);
          const std::int64_t at = row * blocks.channels;
          norm_backward(
              block_of<scalar_t>(blocks, b, x, scale, shift, saved[5].const_data_ptr<double>(),
                                 ctx->saved_data["centred"].toBool()),
              dy.const_data_ptr<scalar_t>() + at, saved[3].const_data_ptr<scalar_t>() + row,
              saved[4].const_data_ptr<scalar_t>() + row, dx.mutable_data_ptr<scalar_t>() + at,
              part(dscale, b), part(dshift, b));
        }
      });
      if (dscale.defined()) out[1] = in_order<scalar_t>(dscale);
      if (dshift.defined()) out[2] = in_order<scalar_t>(dshift);
    });
    out[0] = dx;
    return out;
  }
};

/// The same in ATen's operations, where we have no kernel.
at::Tensor composed(NormKind kind, const at::Tensor& x, const at::Tensor& scale,
                    const at::Tensor& shift, const at::Tensor& eps) {
  const at::Tensor e = queued_copy(eps.to(x.scalar_type()), x.device()).view({-1, 1, 1, 1});
  const at::Tensor centred = kind == NormKind::Layer ? x - x.mean(-1, true) : x;
  at::Tensor y = centred * (centred.square().mean(-1, true) + e).rsqrt();
  const auto wide = [](const at::Tensor& v) { return v.unsqueeze(1).unsqueeze(1); };
  if (scale.defined()) y = y * wide(scale);
  return shift.defined() ? y + wide(shift) : y;
}

}  // namespace

at::Tensor per_cell_norm(NormKind kind, const at::Tensor& x, const at::Tensor& scale,
                         const at::Tensor& shift, const std::vector<double>& eps) {
  const bool centred = kind == NormKind::Layer;
  if (host_kernels_serve(x) && !at::GradMode::is_enabled()) {
    return norm_rows(x.contiguous(), scale, shift, eps.data(), centred, /*keep=*/false).y;
  }
  const at::Tensor numbers = at::tensor(eps, at::kDouble);
  if (!host_kernels_serve(x)) return composed(kind, x, scale, shift, numbers);
  return CpuNorm::apply(x, OptionalTensor(scale), OptionalTensor(shift), numbers, centred);
}

at::Tensor normed_products(NormKind kind, const at::Tensor& input, const at::Tensor& w,
                           const std::vector<double>& eps) {
  const at::NoGradGuard no_grad;
  if (!host_kernels_serve(input)) {
    const at::Tensor normed = per_cell_norm(kind, input, {}, {}, eps);
    return (normed.unsqueeze(-2) * w.unsqueeze(1).unsqueeze(1)).sum(-1);
  }
  const at::Tensor x = input.contiguous();
  const Blocks blocks(x);
  const std::int64_t count = w.size(1);
  const at::Tensor out = at::empty({x.size(0), x.size(1), x.size(2), count}, x.options());
  const at::Tensor rows = w.contiguous();
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "normed_products", [&] {
    at::parallel_for(0, blocks.count(), 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t b = begin; b < end; ++b) {
        norm_products(
            block_of<scalar_t>(blocks, b, x, {}, {}, eps.data(), kind == NormKind::Layer),
            rows.const_data_ptr<scalar_t>() + b / blocks.per_cell * count * blocks.channels, count,
            out.mutable_data_ptr<scalar_t>() + blocks.first_row(b) * count);
      }
    });
  });
  return out;
}

}  // namespace depthgrid
