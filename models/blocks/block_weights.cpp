#include "models/blocks/block_weights.hpp"

#include <vector>

#include <ATen/TensorOperators.h>
#include <ATen/ops/baddbmm.h>
#include <ATen/ops/bmm.h>

namespace depthgrid {

at::Tensor effective_weight(const AffineMap& map) {
  return map.gate.defined() ? map.weight * map.gate : map.weight;
}

at::Tensor apply(const AffineMap& map, const at::Tensor& x) {
  const at::Tensor weight = effective_weight(map);
  const at::Tensor rows = x.to(weight.scalar_type()).flatten(1, -2);  // (E, N, in)
  const at::Tensor columns = weight.transpose(1, 2);
  at::Tensor y;
  if (weight.size(1) == 1 || weight.size(2) == 1) {
    // A product with one column is summed in another order when cells are fused.
    y = (rows.unsqueeze(2) * weight.unsqueeze(1)).sum(-1);
    if (map.bias.defined()) y = y + map.bias;
  } else {
    y = map.bias.defined() ? at::baddbmm(map.bias, rows, columns) : at::bmm(rows, columns);
  }
  std::vector<std::int64_t> sizes = x.sizes().vec();
  sizes.back() = y.size(-1);
  return y.view(sizes);
}

}  // namespace depthgrid
