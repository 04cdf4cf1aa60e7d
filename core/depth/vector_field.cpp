#include "core/depth/vector_field.hpp"

namespace depthgrid {

Control Control::piece(std::int64_t first, std::int64_t tokens) const {
  const bool constant = !u.defined() || u.size(2) == 1;
  return constant ? *this : Control{u.narrow(2, first, tokens)};
}

}  // namespace depthgrid
