#pragma once

#include <span>
#include <string_view>

namespace depthgrid {

/// A key at the top of a sweep file that is not a leaf: how the grid is made.
struct GridKey {
  std::string_view name, type, default_text, doc;
};
std::span<const GridKey> grid_keys();

}  // namespace depthgrid
