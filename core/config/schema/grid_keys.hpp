#pragma once

#include <span>
#include <string_view>

namespace depthgrid {

/// A top-level key of a sweep file that is not a leaf but describes the grid.
struct GridKey {
  std::string_view name, type, default_text, doc;
};
std::span<const GridKey> grid_keys();

}  // namespace depthgrid
