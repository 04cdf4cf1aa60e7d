#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>

#include "core/train/optimizer/device_kernels.hpp"
#include "core/train/optimizer/segment_table.hpp"
#include "distributed/collective.hpp"

namespace depthgrid {

/// GPUs that this process sees; 0 also when this build has no GPU plug-in.
///
/// The plug-in (libdepthgrid_cuda.so beside the program) is opened at the first call of any
/// function here, and with it libtorch_cuda: a process that asks for no GPU does not pay for one.
int device_count();

/// True when this build has the GPU plug-in and this machine has a GPU.
bool nccl_available();

/// Makes `device` current for this thread and returns its PCI bus id, "0000:3b:00.0".
/// @throws BackendError if there is no such device, or no plug-in.
std::string use_device(int device);

/// Versions by library: what the plug-in was built with ("cuda_toolkit", "nccl"; empty without a
/// plug-in). With `loaded`, the plug-in is opened and says what is in use ("cuda_runtime",
/// "cuda_driver", "nccl").
std::map<std::string, std::string> device_versions(bool loaded);

/// Joins `bootstrap`'s ranks in an NCCL group on each rank's current CUDA device.
///
/// The unique id travels over `bootstrap`, which may be MPI or anything else that can broadcast
/// bytes. Collectives are queued on the device's current stream.
/// @param timeout  for the ranks to meet, and for every later call to be queued.
/// @throws BackendError if the build has no NCCL, the machine no GPU, or a peer does not come.
std::unique_ptr<Collective> make_nccl_collective(Collective& bootstrap,
                                                 std::chrono::milliseconds timeout);

/// The optimiser's GPU kernels for `cells` rows of `table`, with their workspace on the current
/// device.
/// @throws BackendError if the build has no plug-in or the machine no GPU.
std::unique_ptr<DeviceKernels> make_device_kernels(const SegmentTable& table, AdamKind kind,
                                                   ClipScope scope, std::int64_t cells);

}  // namespace depthgrid
