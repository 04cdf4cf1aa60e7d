#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "core/train/optimizer/device_kernels.hpp"
#include "distributed/collective.hpp"
#include "distributed/gpu_card.hpp"

namespace depthgrid {

inline constexpr const char* kPluginFile = "libdepthgrid_cuda.so";
inline constexpr const char* kPluginEntry = "depthgrid_cuda_plugin";

/// Incremented with every change of PluginAbi or of a class that crosses it.
inline constexpr int kPluginVersion = 6;

/// Interface of the GPU plug-in, returned by its one exported function `const PluginAbi*
/// depthgrid_cuda_plugin()`. Host and plug-in are built together, by one compiler. All functions
/// but device_count() throw BackendError.
struct PluginAbi {
  int version;
  int (*device_count)(std::string& problem);  ///< if 0, `problem` gets CUDA's reason
  GpuCard (*use_device)(int device);          ///< makes it current
  /// Part of the device's memory that LibTorch may take; once it has begun to use the device.
  void (*limit_memory)(int device, double fraction);
  std::unique_ptr<Collective> (*connect)(Collective& bootstrap, std::chrono::milliseconds timeout);
  std::unique_ptr<DeviceKernels> (*make_kernels)(const BlockSpans& blocks,
                                                 std::string_view optimizer,
                                                 std::uint32_t clip_alone, std::int64_t cells);
  std::map<std::string, std::string> (*versions)();
};

}  // namespace depthgrid
