#include "core/probe/lyapunov/frame_rates.hpp"

#include <algorithm>

#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>

#include "core/base/nan.hpp"
#include "core/probe/lyapunov/directions.hpp"

namespace depthgrid {

at::Tensor advance_frame(const TangentMap& step, at::Tensor& frame) {
  const at::Tensor image =
      each_direction([&](const at::Tensor& v) { return step.forward(v); }, step.sizes(), frame);
  at::Tensor rates = at::full(frame.sizes().slice(0, 3), kNaN, frame.options());
  frame = at::full(frame.sizes(), kNaN, frame.options());
  for (std::int64_t e = 0; e < image.size(0); ++e) {
    for (std::int64_t b = 0; b < image.size(1); ++b) {
      if (!all_finite(image[e][b])) continue;
      const RowsQr qr = qr_of_rows(image[e][b]);
      frame[e][b].copy_(qr.q);
      rates[e][b].copy_(qr.r.diagonal().abs().log());
    }
  }
  return rates;
}

}  // namespace depthgrid
