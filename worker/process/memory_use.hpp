#pragma once

#include <ATen/core/Tensor.h>

namespace depthgrid {

/// Largest resident memory of this process since reset_peak_memory(), or ever, in bytes.
double peak_memory_bytes();

/// Largest memory that tensors on a GPU have taken since reset_peak_memory(); on the CPU the memory
/// of the process.
double peak_device_memory_bytes(at::Device device);

/// Lets peaks count from now on, where the system allows it.
void reset_peak_memory(at::Device device);

/// What each of `processes` on this host may take of its memory, or of the control group's limit.
double usable_memory_bytes(int processes);

}  // namespace depthgrid
