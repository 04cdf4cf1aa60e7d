// The one exported symbol of libdepthgrid_cuda.so.
#include <array>

#include <cuda_runtime_api.h>

#include "distributed/cuda/plugin_abi.hpp"
#include "distributed/cuda/plugin_parts.hpp"

namespace depthgrid {
namespace {

int count_devices() {
  int devices = 0;
  return cudaGetDeviceCount(&devices) == cudaSuccess ? devices : 0;
}

std::string make_current(int device) {
  check_cuda(cudaSetDevice(device), "cudaSetDevice");
  std::array<char, 32> text{};
  check_cuda(cudaDeviceGetPCIBusId(text.data(), static_cast<int>(text.size()), device),
             "cudaDeviceGetPCIBusId");
  return text.data();
}

/// "12.8" for CUDA's 12080.
std::string cuda_version(int number) {
  return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

std::map<std::string, std::string> loaded_versions() {
  std::map<std::string, std::string> out = {{"nccl", nccl_version()}};
  int number = 0;
  if (cudaRuntimeGetVersion(&number) == cudaSuccess) out["cuda_runtime"] = cuda_version(number);
  if (cudaDriverGetVersion(&number) == cudaSuccess) out["cuda_driver"] = cuda_version(number);
  return out;
}

constexpr PluginAbi kAbi = {.version = kPluginVersion,
                            .device_count = count_devices,
                            .use_device = make_current,
                            .connect = connect_nccl,
                            .make_kernels = make_cuda_kernels,
                            .versions = loaded_versions};

}  // namespace
}  // namespace depthgrid

extern "C" const depthgrid::PluginAbi* depthgrid_cuda_plugin() {
  return &depthgrid::kAbi;
}
