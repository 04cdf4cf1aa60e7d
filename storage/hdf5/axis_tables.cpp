#include "storage/hdf5/dimensions.hpp"

namespace depthgrid {

std::vector<std::span<const Dimension>> axis_tables() {
  return {store_axes()};
}

}  // namespace depthgrid
