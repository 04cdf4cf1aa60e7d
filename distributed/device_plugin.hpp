#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "core/train/optimizer/device_kernels.hpp"
#include "core/train/optimizer/segment_table.hpp"
#include "distributed/collective.hpp"

namespace depthgrid {

/// Number of GPUs that this process sees; 0 without the GPU plug-in.
///
/// The first call of any function here loads the plug-in (libdepthgrid_cuda.so beside the program)
/// and with it libtorch_cuda: a process that uses no GPU does not pay for one.
int device_count();

/// Makes `device` current for this thread and returns its PCI bus id, "0000:3b:00.0".
/// @throws BackendError if there is no such device, or no plug-in.
std::string use_device(int device);

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

}  // namespace depthgrid
