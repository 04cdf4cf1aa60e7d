#pragma once

#include <span>
#include <string_view>

#include "storage/cells/cell_profile.hpp"

namespace depthgrid {

/// A picture of the depth: a variable of a probe along depth, a line for each arm. A probe brings
/// its picture as a row of the table.
struct DepthPicture {
  ProfileRequest of;
  std::string_view title, x_label;
};

std::span<const DepthPicture> depth_pictures();

}  // namespace depthgrid
