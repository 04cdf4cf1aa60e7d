#include "worker/process/device_fault.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <c10/util/Exception.h>

#include "core/base/error.hpp"
#include "sweeps/launch/failure_class.hpp"
#include "worker/process/memory_use.hpp"

namespace depthgrid {
namespace {

/// cudaError_t of kernels that went astray: illegal address, assertion, stack, instruction,
/// alignment, address space, program counter.
constexpr std::array<long, 7> kOfKernels = {700, 710, 714, 715, 716, 717, 718};

/// cudaError_t of cards and drivers: initialisation, an old driver, devices that are busy, absent
/// or out of order, memory and links with uncorrectable errors, a launch that failed for no reason
/// which CUDA knows or that a card with a screen has no time for, a context that is gone, a driver
/// of another version, the multi-process service, and the unknown.
constexpr std::array<long, 21> kOfNodes = {3,   35,  46,  100, 101, 214, 220, 226, 304, 702, 709,
                                           719, 800, 802, 803, 804, 805, 806, 807, 808, 999};

constexpr long kNcclUnhandledCudaError = 1;

/// For errors without a number.
constexpr std::string_view kTextsOfKernels[] = {
    "an illegal memory access was encountered", "device-side assert triggered",
    "an illegal instruction was encountered", "misaligned address"};

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
    const bool nccl = backend->library() == "NCCL";
    if (nccl && backend->code() == kNcclUnhandledCudaError) return DeviceFault::Node;
    const bool between = nccl || backend->library() == "MPI";
    return between ? DeviceFault::Link : DeviceFault::None;
  }
  if (const auto* const torch = dynamic_cast<const c10::AcceleratorError*>(&e)) {
    return of_cuda(torch->get_error_code());
  }
  const std::string_view message(e.what());
  const bool kernel = std::ranges::any_of(
      kTextsOfKernels, [&](std::string_view text) { return message.find(text) != message.npos; });
  if (kernel) return DeviceFault::Kernel;
  if (!names_the_node(message)) return DeviceFault::None;
  const bool between = message.find("NCCL") != message.npos || message.find("nccl") != message.npos;
  return between ? DeviceFault::Link : DeviceFault::Node;
}

}  // namespace depthgrid
