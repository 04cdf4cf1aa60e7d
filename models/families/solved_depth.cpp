#include "models/families/solved_depth.hpp"

#include <memory>
#include <utility>

#include "models/blocks/timed_field.hpp"

namespace depthgrid {

DecodeBlock block_between(const Family& family, const at::Tensor& t) {
  DepthGrid node;
  node.t = t.unsqueeze(1);
  return std::move(family.blocks(node).front());
}

std::vector<DepthSegment> solved_run(const ModelOptions& o, const ForwardContext& context,
                                     const Family& family, DepthGrid grid) {
  FieldPtr field = std::make_unique<TimedField>(
      o, context, [&family](const at::Tensor& t) { return block_between(family, t); });
  std::vector<DepthSegment> whole;
  whole.push_back(fixed_run(*o.solver.method, std::move(grid), std::move(field)));
  whole.back().flow = true;
  return whole;
}

}  // namespace depthgrid
