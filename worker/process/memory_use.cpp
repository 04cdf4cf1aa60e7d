#include "worker/process/memory_use.hpp"

#include <algorithm>
#include <fstream>
#include <new>
#include <string>
#include <string_view>

#include <sys/resource.h>
#include <unistd.h>

#include <c10/core/CachingDeviceAllocator.h>
#include <c10/util/Exception.h>

namespace depthgrid {

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
  const auto stats = at::getDeviceAllocator(device.type())->getDeviceStats(device.index());
  return static_cast<double>(
      stats.allocated_bytes[static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE)]
          .peak);
}

void reset_peak_memory(at::Device device) {
  std::ofstream("/proc/self/clear_refs") << "5";  // see proc(5)
  if (!device.is_cpu()) at::getDeviceAllocator(device.type())->resetPeakStats(device.index());
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
  return std::string_view(e.what()).find("DefaultCPUAllocator") != std::string_view::npos;
}

}  // namespace depthgrid
