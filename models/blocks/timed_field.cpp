#include "models/blocks/timed_field.hpp"

#include <utility>
#include <vector>

namespace depthgrid {

DecodeBlock TimedField::block(const DepthPoint& at) const {
  DepthGrid node;
  node.t = at.t.unsqueeze(1);
  node.h = at.h.unsqueeze(1);
  return std::move(family_.blocks(node).front());
}

at::Tensor TimedField::second_sublayer(const BlockWeights& w, const at::Tensor& normed,
                                       const DepthPoint& at) const {
  if (feeds_forward()) return BlockField::second_sublayer(w, normed, at);
  return mix(*block(at).ssm, normed);
}

}  // namespace depthgrid
