#include "models/blocks/rotary.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/tensor.h>

namespace depthgrid {

RotaryAngles rotary_angles(const ModelOptions& o, std::int64_t first, std::int64_t tokens,
                           const at::Tensor& like) {
  const std::int64_t half = o.width / o.heads / 2;
  const at::TensorOptions wide = like.options().dtype(at::kDouble).requires_grad(false);
  const at::Tensor base = at::tensor(o.rope_base, wide).view({-1, 1, 1});  // (E, 1, 1)
  const at::Tensor rate = base.pow(at::arange(half, wide) * (-1.0 / static_cast<double>(half)));
  const at::Tensor angle = at::arange(first, first + tokens, wide).unsqueeze(1) * rate;
  const auto wave = [&](const at::Tensor& v) {  // against x as (E, B, H, T, .)
    return v.to(like.scalar_type()).unsqueeze(1).unsqueeze(1);
  };
  return {wave(angle.cos()), wave(angle.sin())};
}

RotaryAngles at_places(const RotaryAngles& all, const at::Tensor& places) {
  if (!all.cosine.defined()) return {};
  const std::int64_t cells = places.size(0), rows = places.size(1), half = all.cosine.size(4);
  const at::Tensor index =
      places.view({cells, rows, 1, -1, 1}).expand({cells, rows, 1, places.size(2), half});
  const auto taken = [&](const at::Tensor& v) {
    return v.expand({cells, rows, 1, v.size(3), half}).gather(3, index);
  };
  return {taken(all.cosine), taken(all.sine)};
}

at::Tensor rotate(const RotaryAngles& angles, const at::Tensor& x) {
  const std::int64_t half = x.size(3) / 2;
  const at::Tensor y =
      x.contiguous().view({angles.cosine.size(0), -1, x.size(1), x.size(2), x.size(3)});
  const at::Tensor a = y.narrow(-1, 0, half), b = y.narrow(-1, half, half);
  return at::cat({a * angles.cosine - b * angles.sine, b * angles.cosine + a * angles.sine}, -1)
      .view(x.sizes());
}

}  // namespace depthgrid
