#pragma once

#include <string>

namespace depthgrid {

/// Version of the loaded HDF5 library ("1.10.8").
std::string hdf5_version();

}  // namespace depthgrid
