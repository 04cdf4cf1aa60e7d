#include "core/train/optimizer/arena.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include "core/base/error.hpp"
#include "core/cells/cell_rng.hpp"

namespace depthgrid {
namespace {

/// (E or 1, 1, 1) factors that broadcast over a slot's columns.
at::Tensor per_cell_factors(const std::vector<double>& values, const at::Tensor& like) {
  return at::tensor(values, like.options()).view({-1, 1, 1});
}

}  // namespace

at::Tensor slot_view(const at::Tensor& arena, const ParameterSlot& slot) {
  std::vector<std::int64_t> sizes = slot.spec.shape;
  sizes.insert(sizes.begin(), arena.size(0));
  return arena.narrow(1, slot.offset, slot.count).view(sizes);
}

Arena::Arena(ParameterLayout layout, std::vector<std::uint64_t> seeds,
             const at::TensorOptions& options, bool mixed)
    : layout_(std::move(layout)),
      seeds_(std::move(seeds)),
      values_(at::zeros({static_cast<std::int64_t>(seeds_.size()), layout_.size()}, options)),
      gradients_(at::zeros_like(values_)) {
  if (mixed) shadow_ = at::zeros(values_.sizes(), options.dtype(at::kBFloat16));
}

at::Tensor Arena::parameter(const ParameterSpec& spec) {
  const at::NoGradGuard no_grad;
  const ParameterSlot& slot = layout_.find(spec.name);
  if (slot.spec.shape != spec.shape) {
    throw Error("parameter '" + spec.name + "' has another shape in the layout");
  }
  const at::Tensor column = values_.narrow(1, slot.offset, slot.count).unsqueeze(1);
  const DrawPoint at{.stream = init_stream(spec.name)};
  if (spec.init.draw == Init::Draw::Uniform) fill_uniform(column, seeds_, at, -1, 1);
  if (spec.init.draw == Init::Draw::Normal) fill_normal(column, seeds_, at);
  if (spec.init.draw != Init::Draw::None) column.mul_(per_cell_factors(spec.init.scale, values_));
  if (!spec.init.fill.empty()) column.add_(per_cell_factors(spec.init.fill, values_));
  if (!spec.init.diagonal.empty()) {
    slot_view(values_, slot)
        .diagonal(0, 1, 2)
        .add_(at::tensor(spec.init.diagonal, values_.options()).unsqueeze(0));
  }
  const bool in_bf16 = spec.factor && shadow_.defined();
  if (in_bf16) shadow_.narrow(1, slot.offset, slot.count).unsqueeze(1).copy_(column);
  at::Tensor leaf = slot_view(in_bf16 ? shadow_ : values_, slot).detach();
  leaf.requires_grad_(true);
  leaf.mutable_grad() = slot_view(gradients_, slot);
  leaves_.push_back({slot.offset, leaf});
  return leaf;
}

void Arena::refresh_shadow() {
  const at::NoGradGuard no_grad;
  if (shadow_.defined()) shadow_.copy_(values_);
}

}  // namespace depthgrid
