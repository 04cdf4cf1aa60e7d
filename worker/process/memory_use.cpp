#include "worker/process/memory_use.hpp"

#include <algorithm>
#include <fstream>
#include <new>
#include <string>
#include <string_view>

#include <sys/resource.h>
#include <unistd.h>

#include <ATen/Context.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/util/Exception.h>

#include "core/base/error.hpp"

namespace depthgrid {
namespace {

/// LibTorch's allocator of this kind of device; null until the device is in use: its statistics
/// throw before that.
c10::DeviceAllocator* allocator_in_use(at::Device device) {
  if (!at::globalContext().hasCUDA()) return nullptr;
  c10::DeviceAllocator* const allocator = at::getDeviceAllocator(device.type());
  return allocator->initialized() ? allocator : nullptr;
}

/// What the libraries below LibTorch say when a GPU's memory is full. LibTorch's own allocator has
/// an exception type; these take memory beside it (workspaces, handles, kernels' local memory).
constexpr std::string_view kOutOfMemory[] = {
    "DefaultCPUAllocator", "CUDA error: out of memory", "CUBLAS_STATUS_ALLOC_FAILED",
    "CUSOLVER_STATUS_ALLOC_FAILED", "CUSPARSE_STATUS_ALLOC_FAILED",
    "CUSPARSE_STATUS_INSUFFICIENT_RESOURCES", "CUDNN_STATUS_ALLOC_FAILED",
    // A handle whose memory cannot be had is reported as a library that cannot be set up.
    "CUBLAS_STATUS_NOT_INITIALIZED when calling `cublasCreate",
    "CUSOLVER_STATUS_NOT_INITIALIZED, when calling `cusolverDnCreate"};
constexpr long kCudaOutOfMemory = 2;  // cudaErrorMemoryAllocation

}  // namespace

double peak_memory_bytes() {
  std::ifstream in("/proc/self/status");
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("VmHWM:")) return std::stod(line.substr(6)) * 1024;
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024;
}

double peak_device_memory_bytes(at::Device device) {
  if (device.is_cpu()) return peak_memory_bytes();
  c10::DeviceAllocator* const allocator = allocator_in_use(device);
  if (allocator == nullptr) return 0;
  const auto stats = allocator->getDeviceStats(device.index());
  return static_cast<double>(
      stats.allocated_bytes[static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE)]
          .peak);
}

double largest_peak_bytes() {
  const at::Device card(at::kCUDA);
  if (allocator_in_use(card) == nullptr) return peak_memory_bytes();
  const auto current = at::globalContext().getAcceleratorHooksInterface().getCurrentDevice();
  return peak_device_memory_bytes(at::Device(at::kCUDA, current));
}

void reset_peak_memory(at::Device device) {
  std::ofstream("/proc/self/clear_refs") << "5";  // see proc(5)
  if (device.is_cpu()) return;
  c10::DeviceAllocator* const allocator = allocator_in_use(device);
  if (allocator != nullptr) allocator->resetPeakStats(device.index());
}

double usable_memory_bytes(int processes) {
  double bytes =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  std::ifstream limit("/sys/fs/cgroup/memory.max");  // "max" if there is none
  if (double bound = 0; limit >> bound) bytes = std::min(bytes, bound);
  constexpr double kReserve = 0.2;  // for the system, corpora in the page cache, other programs
  return (1 - kReserve) * bytes / processes;
}

bool is_out_of_memory(const std::exception& e) {
  if (dynamic_cast<const std::bad_alloc*>(&e) != nullptr) return true;
  if (dynamic_cast<const c10::OutOfMemoryError*>(&e) != nullptr) return true;
  if (const auto* const backend = dynamic_cast<const BackendError*>(&e)) {
    const bool cuda = backend->library() == "CUDA" && backend->code() == kCudaOutOfMemory;
    const bool nccl = backend->library() == "NCCL";  // reports it by the text of CUDA's error
    return cuda || (nccl && std::string_view(e.what()).find("out of memory") != std::string::npos);
  }
  const std::string_view text(e.what());
  return std::ranges::any_of(
      kOutOfMemory, [&](std::string_view message) { return text.find(message) != text.npos; });
}

}  // namespace depthgrid
