#include "worker/process/device_fault.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

#include <c10/util/Exception.h>

#include "core/base/error.hpp"
#include "worker/process/memory_use.hpp"

namespace depthgrid {
namespace {

/// cudaError_t of kernels that went astray: illegal address, assertion, stack, instruction,
/// alignment, address space, program counter.
constexpr std::array<long, 7> kOfKernels = {700, 710, 714, 715, 716, 717, 718};

/// cudaError_t of cards and drivers: initialisation, an old driver, devices that are busy, absent
/// or out of order, memory and links with uncorrectable errors, a launch that failed for no reason
/// which CUDA knows, a driver of another version, the multi-process service, and the unknown.
constexpr std::array<long, 19> kOfNodes = {3,   35,  46,  100, 101, 214, 220, 226, 304, 719,
                                           800, 802, 803, 804, 805, 806, 807, 808, 999};

struct SaidOf {
  std::string_view text;
  DeviceFault fault;
};

/// For errors without a number. What libraries report of a failed execution may have begun in a
/// kernel, but cards that are about to fail say it, too.
constexpr SaidOf kTexts[] = {
    {"an illegal memory access was encountered", DeviceFault::Kernel},
    {"device-side assert triggered", DeviceFault::Kernel},
    {"an illegal instruction was encountered", DeviceFault::Kernel},
    {"misaligned address", DeviceFault::Kernel},
    {"unspecified launch failure", DeviceFault::Node},
    {"uncorrectable ECC error", DeviceFault::Node},
    {"uncorrectable NVLink error", DeviceFault::Node},
    {"CUDA error: unknown error", DeviceFault::Node},
    {"no CUDA-capable device", DeviceFault::Node},
    {"CUDA driver", DeviceFault::Node},
    {"CUBLAS_STATUS_EXECUTION_FAILED", DeviceFault::Node},
    {"CUBLAS_STATUS_INTERNAL_ERROR", DeviceFault::Node},
    {"CUDNN_STATUS_EXECUTION_FAILED", DeviceFault::Node},
    {"CUDNN_STATUS_INTERNAL_ERROR", DeviceFault::Node},
    {"NCCL error", DeviceFault::Node},
};

DeviceFault of_cuda(long code) {
  if (std::ranges::find(kOfKernels, code) != kOfKernels.end()) return DeviceFault::Kernel;
  if (std::ranges::find(kOfNodes, code) != kOfNodes.end()) return DeviceFault::Node;
  return DeviceFault::None;
}

}  // namespace

DeviceFault device_fault_of(const std::exception& e) {
  if (is_out_of_memory(e)) return DeviceFault::None;
  if (const auto* const backend = dynamic_cast<const BackendError*>(&e)) {
    if (backend->library() == "CUDA") return of_cuda(backend->code());
    const bool between = backend->library() == "NCCL" || backend->library() == "MPI";
    return between ? DeviceFault::Node : DeviceFault::None;
  }
  if (const auto* const torch = dynamic_cast<const c10::AcceleratorError*>(&e)) {
    return of_cuda(torch->get_error_code());
  }
  const std::string_view said(e.what());
  const auto* const known = std::ranges::find_if(
      kTexts, [&](const SaidOf& one) { return said.find(one.text) != said.npos; });
  return known == std::end(kTexts) ? DeviceFault::None : known->fault;
}

}  // namespace depthgrid
