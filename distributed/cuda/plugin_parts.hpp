#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/train/optimizer/device_kernels.hpp"
#include "distributed/collective.hpp"

namespace depthgrid {

// What the sources of the GPU plug-in share; programs call the functions of device_plugin.hpp.

/// @param code  a cudaError_t. @throws BackendError with CUDA's own text unless it is cudaSuccess.
void check_cuda(int code, const char* call, const char* file = __builtin_FILE(),
                int line = __builtin_LINE());

/// An NCCL group of `bootstrap`'s ranks, on each rank's current CUDA device.
/// @throws BackendError if NCCL fails or a peer does not join within `timeout`.
std::unique_ptr<Collective> connect_nccl(Collective& bootstrap, std::chrono::milliseconds timeout);

/// Version of the loaded library ("2.27.5"); empty if unknown.
std::string nccl_version();

/// @param blocks     copied to the current device, with workspace for `cells` rows.
/// @param optimizer  word of `train.optimizer`.
/// @throws BackendError if the optimiser has no GPU kernel or the device is out of memory.
std::unique_ptr<DeviceKernels> make_cuda_kernels(const BlockSpans& blocks,
                                                 std::string_view optimizer,
                                                 std::uint32_t clip_alone, std::int64_t cells);

}  // namespace depthgrid
