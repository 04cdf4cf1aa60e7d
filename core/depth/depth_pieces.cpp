#include "core/depth/depth_pieces.hpp"

#include <algorithm>

#include "core/base/error.hpp"

namespace depthgrid {

at::Tensor advance(const std::vector<DepthSegment>& segments, const at::Tensor& x,
                   std::int64_t from, std::int64_t to, const Control& u, const DepthPass& pass) {
  at::Tensor state = x;
  std::int64_t begin = 0;
  for (const DepthSegment& segment : segments) {
    const std::int64_t end = begin + segment.grid.steps();
    const std::int64_t first = std::max(from, begin), last = std::min(to, end);
    if (first < last) {
      const DepthGrid part =
          segment.grid.piece(first - begin, last - first, segment.grid.first + first - begin);
      state = segment.method->solve(*segment.field, part, state, u, pass);
    }
    begin = end;
  }
  if (from < 0 || from > to || to > begin) throw Error("the depth has no such steps");
  return state;
}

}  // namespace depthgrid
