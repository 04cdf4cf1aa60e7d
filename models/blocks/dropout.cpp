#include "models/blocks/dropout.hpp"

#include <algorithm>
#include <string>

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>

#include "core/base/error.hpp"
#include "core/cells/cell_rng.hpp"
#include "core/cells/cell_set.hpp"
#include "core/cells/queued_tensor.hpp"

namespace depthgrid {

at::Tensor dropout(const at::Tensor& x, const std::vector<double>& p, std::string_view use,
                   std::int64_t layer, const ForwardContext& context) {
  if (!context.training || std::ranges::all_of(p, [](double v) { return v == 0; })) return x;
  if (context.seeds == nullptr) throw Error("dropout needs the cells' seeds");
  const at::TensorOptions plain = x.options().dtype(at::kFloat).requires_grad(false);
  const at::Tensor draw = at::empty(x.sizes(), plain);
  const std::string stream = "dropout/" + std::string(use) + "/" + std::to_string(layer);
  fill_uniform(draw, *context.seeds,
               {.stream = stream_id(stream), .step = context.step, .first_row = context.first_row});
  const at::Tensor limit = per_cell(queued_tensor(p, plain), draw);
  return x * (draw.ge(limit).to(at::kFloat) / (1 - limit)).to(x.scalar_type());
}

}  // namespace depthgrid
