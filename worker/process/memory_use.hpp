#pragma once

#include <exception>

#include <ATen/core/Tensor.h>

namespace depthgrid {

/// Largest resident memory of this process since reset_peak_memory(), or ever, in bytes.
double peak_memory_bytes();

/// Largest memory taken by tensors on a GPU since reset_peak_memory(), in bytes, 0 before the GPU
/// is in use; on the CPU, that of the process.
double peak_device_memory_bytes(at::Device device);

/// The same of the GPU in use, or of the process where there is none.
double largest_peak_bytes();

/// Restarts peak measurement, where the system allows it and the device is in use.
void reset_peak_memory(at::Device device);

/// Bytes of this host's memory, or the control group's limit, that each of `processes` may use.
double usable_memory_bytes(int processes);

/// Whether an error means that memory ran out. LibTorch reports this by the message on the CPU and
/// by a separate exception type on a GPU; the GPU plug-in's own allocations and the libraries that
/// LibTorch calls (cuBLAS, cuSOLVER, cuSPARSE, cuDNN, NCCL) have words of their own.
bool is_out_of_memory(const std::exception& e);

}  // namespace depthgrid
