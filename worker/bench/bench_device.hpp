#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include "core/config/cell_config.hpp"

namespace depthgrid {

/// What a device is asked to do by one piece of work, from LibTorch's profiler (Kineto, CUPTI).
struct DeviceWork {
  std::int64_t kernels = 0;
  std::int64_t copies = 0;  ///< between host and device, or within the device; fills included
  double busy_ms = 0;       ///< sum of the durations of all of them
  std::vector<std::pair<std::string, double>>
      longest;  ///< names and ms of the five longest kernels
  std::vector<std::pair<std::string, double>>
      calls;  ///< names and ms on the host of the five longest calls to the CUDA runtime
};

/// The device of a benchmark. While it lives, train.deterministic and the TF32 of train.precision
/// are in force as in a run.
class BenchDevice {
 public:
  /// @param word  "cpu" or "cuda". @throws UserError (BadConfig) with the reason where no GPU can
  ///              be used.
  BenchDevice(const std::string& word, const CellConfig& config);

  at::Device device() const noexcept { return device_; }

  /// "cpu", or "cuda 0000:3b:00.0".
  const std::string& name() const noexcept { return name_; }

  /// Waits for all that is queued.
  void synchronize() const;

  /// Largest memory of tensors on a GPU, of the process on the CPU, since this object was made or
  /// restart_peak() was called.
  double peak_bytes() const;

  /// Gives what the process has freed back to the system. @return what is in use, as peak_bytes().
  double restart_peak() const;

  /// Of `work`, which is run once; all 0 on the CPU, or (with a warning) where the profiler sees
  /// no GPU.
  DeviceWork work_of(const std::function<void()>& work) const;

 private:
  DeviceWork profiled(const std::function<void()>& work) const;

  at::Device device_ = at::kCPU;
  std::string name_ = "cpu";
};

}  // namespace depthgrid
