#include "storage/hdf5/hdf5_version.hpp"

#include <fmt/format.h>

#include "storage/hdf5/h5_handles.hpp"

namespace depthgrid {

std::string hdf5_version() {
  unsigned major = 0, minor = 0, release = 0;
  h5_check(H5get_libversion(&major, &minor, &release), "H5get_libversion");
  return fmt::format("{}.{}.{}", major, minor, release);
}

}  // namespace depthgrid
