#include "worker/bench/bench_device.hpp"

#include <algorithm>
#include <exception>
#include <map>
#include <set>

#include <malloc.h>

#include <ATen/Context.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <torch/csrc/autograd/profiler_kineto.h>

#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "distributed/device_plugin.hpp"
#include "worker/process/memory_use.hpp"
#include "worker/process/run_setup.hpp"

namespace depthgrid {
namespace {

namespace profiler = torch::profiler::impl;

constexpr std::size_t kLongest = 5;

using Milliseconds = std::map<std::string, double>;

std::vector<std::pair<std::string, double>> longest(const Milliseconds& by_name) {
  std::vector<std::pair<std::string, double>> out(by_name.begin(), by_name.end());
  std::ranges::stable_sort(out, std::ranges::greater{}, &std::pair<std::string, double>::second);
  if (out.size() > kLongest) out.resize(kLongest);
  return out;
}

}  // namespace

BenchDevice::BenchDevice(const std::string& word, const CellConfig& config) {
  if (word == "cuda") {
    const GpuSearch found = find_gpus();
    if (found.count == 0) {
      throw UserError(ExitCode::BadConfig,
                      "bench --device cuda: no GPU can be used: " + found.problem);
    }
    name_ = "cuda " + use_device(0).bus;
    device_ = at::Device(at::kCUDA, 0);
  }
  use_reproducible_operations(config.flag("train.deterministic"));
  at::globalContext().setAllowTF32CuBLAS(config.word("train.precision") == "tf32");
  reset_peak_memory(device_);
}

void BenchDevice::synchronize() const {
  if (device_.is_cpu()) return;
  c10::impl::VirtualGuardImpl(device_.type()).synchronizeDevice(device_.index());
}

double BenchDevice::peak_bytes() const {
  return peak_device_memory_bytes(device_);
}

double BenchDevice::restart_peak() const {
  malloc_trim(0);
  reset_peak_memory(device_);
  return peak_bytes();
}

DeviceWork BenchDevice::work_of(const std::function<void()>& work) const {
  if (device_.is_cpu()) return {};
  try {
    DeviceWork seen = profiled(work);
    if (seen.kernels == 0) log(LogLevel::Warning, "the profiler has seen no launches");
    return seen;
  } catch (const std::exception& e) {  // the times that were measured are worth more
    log(LogLevel::Warning, std::string("launches are not known: ") + e.what());
    return {};
  }
}

DeviceWork BenchDevice::profiled(const std::function<void()>& work) const {
  const profiler::ProfilerConfig config(profiler::ProfilerState::KINETO);
  const std::set<profiler::ActivityType> activities = {profiler::ActivityType::CPU,
                                                       profiler::ActivityType::CUDA};
  torch::autograd::profiler::prepareProfiler(config, activities);
  torch::autograd::profiler::enableProfiler(config, activities);
  work();
  synchronize();
  const auto result = torch::autograd::profiler::disableProfiler();
  DeviceWork out;
  Milliseconds kernels, calls;
  for (const auto& event : result->events()) {
    const std::string name = event.name();
    const double milliseconds = static_cast<double>(event.durationNs()) * 1e-6;
    if (event.deviceType() == c10::DeviceType::CPU) {
      if (name.starts_with("cu")) calls[name] += milliseconds;
      continue;
    }
    out.busy_ms += milliseconds;
    if (name.starts_with("Memcpy") || name.starts_with("Memset")) {
      ++out.copies;
    } else {
      ++out.kernels;
      kernels[name] += milliseconds;
    }
  }
  out.longest = longest(kernels);
  out.calls = longest(calls);
  return out;
}

}  // namespace depthgrid
