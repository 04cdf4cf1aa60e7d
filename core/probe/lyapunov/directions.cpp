#include "core/probe/lyapunov/directions.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/linalg_qr.h>

#include "core/cells/cell_rng.hpp"

namespace depthgrid {

std::int64_t state_entries(at::IntArrayRef state) {
  std::int64_t n = 1;
  for (const std::int64_t size : state.slice(2)) n *= size;
  return n;
}

at::Tensor normal_directions(at::IntArrayRef state, std::int64_t count, const DirectionDraw& draw) {
  const std::int64_t entries = state_entries(state);
  const at::Tensor one = at::empty({1, state[1], count, entries}, at::kFloat);
  fill_normal(one, {draw.seed},
              {.stream = stream_id(draw.use), .step = 0, .first_row = draw.first_sequence});
  return one.to(at::kDouble).expand({state[0], state[1], count, entries}).contiguous();
}

at::Tensor each_direction(const std::function<at::Tensor(const at::Tensor&)>& linear,
                          at::IntArrayRef state, const at::Tensor& rows) {
  const at::Tensor out = at::empty(rows.sizes(), rows.options());
  for (std::int64_t i = 0; i < rows.size(2); ++i) {
    out.select(2, i).copy_(linear(rows.select(2, i).reshape(state)).flatten(2));
  }
  return out;
}

RowsQr qr_of_rows(const at::Tensor& rows) {
  const auto [q, r] = at::linalg_qr(rows.clone().t(), "reduced");
  return {q.t().contiguous(), r};
}

bool all_finite(const at::Tensor& x) {
  return at::isfinite(x).all().item<bool>();
}

}  // namespace depthgrid
