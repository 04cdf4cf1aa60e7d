#include "models/blocks/block_weights.hpp"

#include <vector>

#include <ATen/TensorOperators.h>
#include <ATen/ops/baddbmm.h>
#include <ATen/ops/bmm.h>

namespace depthgrid {

at::Tensor apply(const AffineMap& map, const at::Tensor& x) {
  const at::Tensor rows = x.to(map.weight.scalar_type()).flatten(1, -2);  // (E, N, in)
  const at::Tensor columns = map.weight.transpose(1, 2);
  at::Tensor y;
  if (map.weight.size(1) == 1 || map.weight.size(2) == 1) {
    // A product with one column is summed in another order when cells are fused.
    y = (rows.unsqueeze(2) * map.weight.unsqueeze(1)).sum(-1);
    if (map.bias.defined()) y = y + map.bias;
  } else {
    y = map.bias.defined() ? at::baddbmm(map.bias, rows, columns) : at::bmm(rows, columns);
  }
  std::vector<std::int64_t> sizes = x.sizes().vec();
  sizes.back() = y.size(-1);
  return y.view(sizes);
}

}  // namespace depthgrid
