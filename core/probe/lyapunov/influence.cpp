#include "core/probe/lyapunov/influence.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/zeros.h>

namespace depthgrid {

at::Tensor influence_on(const TangentMap& map, std::int64_t token, std::int64_t probes,
                        const DirectionDraw& draw) {
  const at::IntArrayRef state = map.sizes();
  const std::int64_t cells = state[0], batch = state[1], tokens = state[2], width = state[3];
  const at::Tensor draws = normal_directions({cells, batch, width}, probes, draw);
  const at::Tensor sum = at::zeros({cells, batch, tokens}, at::kDouble);
  auto sums = sum.accessor<double, 3>();
  for (std::int64_t i = 0; i < probes; ++i) {
    const at::Tensor w = at::zeros(state, at::kDouble);
    w.select(2, token).copy_(draws.select(2, i));
    const at::Tensor pulled = map.transposed(w).to(at::kCPU, at::kDouble).contiguous();
    const auto entries = pulled.accessor<double, 4>();
    for (std::int64_t e = 0; e < cells; ++e) {
      for (std::int64_t b = 0; b < batch; ++b) {
        for (std::int64_t t = 0; t < tokens; ++t) {
          for (std::int64_t c = 0; c < width; ++c) {
            sums[e][b][t] += entries[e][b][t][c] * entries[e][b][t][c];
          }
        }
      }
    }
  }
  return sum / static_cast<double>(probes);
}

}  // namespace depthgrid
