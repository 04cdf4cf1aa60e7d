#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/train/optimizer/device_kernels.hpp"
#include "core/train/optimizer/segment_table.hpp"
#include "distributed/collective.hpp"
#include "distributed/gpu_card.hpp"

namespace depthgrid {

/// The GPUs that this process sees.
struct GpuSearch {
  int count = 0;
  bool shown = false;   ///< the machine shows a GPU, usable or not
  std::string problem;  ///< why the count is 0
};

/// Asks for a driver first, and only then loads the plug-in (libdepthgrid_cuda.so beside the
/// program) and with it libtorch_cuda: a process that uses no GPU does not pay for one. Every other
/// function here loads it, too.
GpuSearch find_gpus();

/// Why the plug-in cannot be loaded, in the words of the dynamic linker; none if it can.
std::optional<std::string> plugin_problem();

/// Makes `device` current for this thread and has LibTorch begin to use it: before, LibTorch's
/// allocator knows no device, and asking it for statistics throws.
/// @throws BackendError if there is no such device, or no plug-in.
GpuCard use_device(int device);

/// LibTorch's allocator takes at most this part of the memory of `device`, which is in use; beyond
/// that it throws c10::OutOfMemoryError.
/// @param fraction  0 ... 1. @throws BackendError if there is no GPU.
void limit_device_memory(int device, double fraction);

/// Versions by library that the plug-in was built with ("cuda_toolkit", "nccl"; empty without a
/// plug-in). With `loaded`: those in use, as reported by the loaded plug-in ("cuda_runtime",
/// "cuda_driver", "nccl").
std::map<std::string, std::string> device_versions(bool loaded);

/// An NCCL group of `bootstrap`'s ranks, on each rank's current CUDA device.
///
/// `bootstrap` broadcasts the unique id; any Collective that carries bytes will do. Collectives are
/// queued on the device's current stream.
/// @param timeout  for all ranks to join, and for every later call to be enqueued.
/// @throws BackendError if the build has no NCCL, the machine has no GPU, or a peer fails to join.
std::unique_ptr<Collective> make_nccl_collective(Collective& bootstrap,
                                                 std::chrono::milliseconds timeout);

/// The optimiser's GPU kernels for `cells` rows of `table`, with their workspace on the current
/// device.
/// @param optimizer  word of `train.optimizer`.
/// @throws BackendError if the build has no plug-in, the machine no GPU or the optimiser no kernel.
std::unique_ptr<DeviceKernels> make_device_kernels(const SegmentTable& table,
                                                   std::string_view optimizer, ClipScope scope,
                                                   std::int64_t cells);

/// Where a driver for NVIDIA's GPUs shows itself.
struct DriverPlaces {
  std::filesystem::path devices = "/dev";  ///< has nvidia0, nvidia1, ...; dxg under WSL
  /// One entry per GPU; there even before the first user of a GPU makes the device files.
  std::filesystem::path kernel = "/proc/driver/nvidia/gpus";
  std::string library = "libcuda.so.1";  ///< belongs to the driver, not to CUDA
};

/// Whether the machine shows a GPU: the files that a driver makes for one, in two folders.
bool shows_gpu(const DriverPlaces& places = {});

/// Why this machine has no usable driver; none if it has one.
///
/// Asks for the files first, then opens and closes the driver's library.
std::optional<std::string> driver_problem(const DriverPlaces& places = {});

}  // namespace depthgrid
