// The one exported symbol of libdepthgrid_cuda.so.
#include <array>

#include <cuda_runtime_api.h>

#include <c10/cuda/CUDACachingAllocator.h>

#include "distributed/cuda/plugin_abi.hpp"
#include "distributed/cuda/plugin_parts.hpp"

namespace depthgrid {
namespace {

int count_devices(std::string& problem) {
  int devices = 0;
  const cudaError_t code = cudaGetDeviceCount(&devices);
  if (code == cudaSuccess && devices > 0) return devices;
  problem = std::string("CUDA finds none: ") +
            (code == cudaSuccess ? "the driver shows no device" : cudaGetErrorString(code));
  return 0;
}

/// "GPU-5fd3f1a2-…" as the driver prints it; empty for sixteen zeros.
std::string uuid_text(const cudaUUID_t& uuid) {
  std::string text = "GPU";
  bool known = false;
  for (int i = 0; i < 16; ++i) {
    if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    const auto byte = static_cast<unsigned char>(uuid.bytes[i]);
    constexpr const char* kDigits = "0123456789abcdef";
    text += kDigits[byte / 16];
    text += kDigits[byte % 16];
    known = known || byte != 0;
  }
  return known ? text : "";
}

GpuCard make_current(int device) {
  check_cuda(cudaSetDevice(device), "cudaSetDevice");
  std::array<char, 32> text{};
  check_cuda(cudaDeviceGetPCIBusId(text.data(), static_cast<int>(text.size()), device),
             "cudaDeviceGetPCIBusId");
  cudaDeviceProp properties{};
  check_cuda(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
  return {text.data(), uuid_text(properties.uuid)};
}

void limit_memory(int device, double fraction) {
  c10::cuda::CUDACachingAllocator::setMemoryFraction(fraction,
                                                     static_cast<c10::DeviceIndex>(device));
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
                            .limit_memory = limit_memory,
                            .connect = connect_nccl,
                            .make_kernels = make_cuda_kernels,
                            .versions = loaded_versions};

}  // namespace
}  // namespace depthgrid

extern "C" const depthgrid::PluginAbi* depthgrid_cuda_plugin() {
  return &depthgrid::kAbi;
}
