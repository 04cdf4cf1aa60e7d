#include "core/probe/trajectory/path_statistics.hpp"

#include <cmath>
#include <limits>

#include <ATen/TensorOperators.h>
#include <ATen/ops/addcmul.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/full.h>
#include <ATen/ops/lerp.h>

namespace depthgrid {
namespace {

constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

at::Tensor inner(const at::Tensor& a, const at::Tensor& b) {
  return (a * b).sum(-1);
}

at::Tensor length(const at::Tensor& a) {
  return inner(a, a).sqrt();
}

/// A denominator: what is divided by 0 is undefined.
at::Tensor not_zero(const at::Tensor& a) {
  return a.masked_fill(a.eq(0), kUndefined);
}

/// The later and the earlier of each two neighbours along dimension 0.
at::Tensor later(const at::Tensor& a) {
  return a.narrow(0, 1, a.size(0) - 1);
}
at::Tensor earlier(const at::Tensor& a) {
  return a.narrow(0, 0, a.size(0) - 1);
}

/// Rows of the steps from the second on, with that of the first.
at::Tensor from_second(const at::Tensor& rows) {
  return at::cat({at::full({1, rows.size(1)}, kUndefined, rows.options()), rows});
}

/// One number per step, against (L, T, C).
at::Tensor per_step(const at::Tensor& a) {
  return a.unsqueeze(-1).unsqueeze(-1);
}

}  // namespace

PathStatistics path_statistics(const at::Tensor& x, const at::Tensor& times) {
  const double rms = 1 / std::sqrt(static_cast<double>(x.size(2)));
  const at::Tensor size = length(x);
  const at::Tensor first = x.narrow(0, 0, 1), last = x.narrow(0, x.size(0) - 1, 1);
  const at::Tensor distance = length(x - first);
  const at::Tensor end = distance.select(0, -1);

  const at::Tensor step = later(x) - earlier(x);
  const at::Tensor step_size = length(step);
  const at::Tensor path = step_size.sum(0);

  const at::Tensor h = not_zero(later(times) - earlier(times));
  const at::Tensor v = step / per_step(h);
  const at::Tensor two_steps = not_zero(later(h) + earlier(h));
  const at::Tensor a = (later(v) - earlier(v)) / per_step(two_steps / 2);
  const at::Tensor w = at::lerp(earlier(v), later(v), per_step(earlier(h) / two_steps));
  const at::Tensor w2 = not_zero(inner(w, w));
  // From the vector across the path, not from a difference of squares: a straight path has none.
  const at::Tensor across = at::addcmul(a, (inner(a, w) / w2).unsqueeze(-1), w, -1);

  PathStatistics out;
  out.norm = size * rms;
  out.displacement = distance / not_zero(size.narrow(0, 0, 1));
  out.cosine_final = inner(x, last) / not_zero(size * size.narrow(0, x.size(0) - 1, 1));
  out.velocity = step_size * rms / h.abs().unsqueeze(-1);
  out.relative_velocity = step_size / h.abs().unsqueeze(-1) / not_zero(earlier(size));
  out.cosine_state = inner(earlier(x), later(x)) / not_zero(earlier(size) * later(size));
  out.cosine_step = from_second(inner(earlier(step), later(step)) /
                                not_zero(earlier(step_size) * later(step_size)));
  out.acceleration = from_second(length(a) * rms);
  out.curvature = from_second(length(across) / w2);
  out.path_length = path * rms;
  out.tortuosity = path / not_zero(end);
  out.straightness = end / not_zero(path);
  return out;
}

}  // namespace depthgrid
