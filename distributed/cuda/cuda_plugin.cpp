// The one exported symbol of libdepthgrid_cuda.so.
#include <array>

#include <cuda_runtime_api.h>

#include "core/base/error.hpp"
#include "distributed/cuda/nccl_collective.hpp"
#include "distributed/cuda/plugin_abi.hpp"

namespace depthgrid {
namespace {

void check(cudaError_t code, const char* call) {
  if (code != cudaSuccess) throw BackendError("CUDA", call, code, cudaGetErrorString(code));
}

int count_devices() {
  int devices = 0;
  return cudaGetDeviceCount(&devices) == cudaSuccess ? devices : 0;
}

void make_current(int device, std::string& bus_id) {
  check(cudaSetDevice(device), "cudaSetDevice");
  std::array<char, 32> text{};
  check(cudaDeviceGetPCIBusId(text.data(), static_cast<int>(text.size()), device),
        "cudaDeviceGetPCIBusId");
  bus_id = text.data();
}

Collective* new_nccl(Collective& bootstrap, std::chrono::milliseconds timeout) {
  return connect_nccl(bootstrap, timeout).release();
}

DeviceKernels* new_kernels(const BlockSpans& blocks, std::string_view optimizer, bool clip_by_group,
                           std::int64_t cells) {
  return make_cuda_kernels(blocks, optimizer, clip_by_group, cells).release();
}

/// "12.8" for CUDA's 12080.
std::string cuda_version(int number) {
  return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

void loaded_versions(std::map<std::string, std::string>& out) {
  int number = 0;
  if (cudaRuntimeGetVersion(&number) == cudaSuccess) out["cuda_runtime"] = cuda_version(number);
  if (cudaDriverGetVersion(&number) == cudaSuccess) out["cuda_driver"] = cuda_version(number);
  out["nccl"] = nccl_version();
}

constexpr PluginAbi kAbi = {.version = kPluginVersion,
                            .device_count = count_devices,
                            .use_device = make_current,
                            .connect = new_nccl,
                            .make_kernels = new_kernels,
                            .versions = loaded_versions};

}  // namespace
}  // namespace depthgrid

extern "C" const depthgrid::PluginAbi* depthgrid_cuda_plugin() {
  return &depthgrid::kAbi;
}
