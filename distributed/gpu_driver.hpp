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

/// Whether the machine shows a GPU: the files that a driver makes for one, in two folders.
bool shows_gpu(const DriverPlaces& places = {});

/// Why this machine has no usable driver; none if it has one.
///
/// Asks for the files first, then opens and closes the driver's library.
std::optional<std::string> driver_problem(const DriverPlaces& places = {});

}  // namespace depthgrid
