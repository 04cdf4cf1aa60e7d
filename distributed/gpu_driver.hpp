#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace depthgrid {

/// Where a driver for NVIDIA's GPUs shows itself.
struct DriverPlaces {
  std::filesystem::path devices = "/dev";  ///< has nvidia0, nvidia1, ...; dxg under WSL
  /// One entry per GPU; there even before the first user of a GPU makes the device files.
  std::filesystem::path kernel = "/proc/driver/nvidia/gpus";
  std::string library = "libcuda.so.1";  ///< belongs to the driver, not to CUDA
};

/// Why this machine has no usable driver; none if it has one.
///
/// Looks for the GPUs' files, then opens and closes the driver's library: a machine without a GPU
/// pays for a look into two folders.
std::optional<std::string> driver_problem(const DriverPlaces& places = {});

}  // namespace depthgrid
