#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "distributed/collective.hpp"

namespace depthgrid {

/// Joins `bootstrap`'s ranks in an NCCL group on each rank's current CUDA device. Part of the GPU
/// plug-in; programs call make_nccl_collective (device_plugin.hpp).
/// @throws BackendError if NCCL fails or a peer does not come within `timeout`.
std::unique_ptr<Collective> connect_nccl(Collective& bootstrap, std::chrono::milliseconds timeout);

/// "2.27.5": of the library that is loaded; empty if it does not say.
std::string nccl_version();

}  // namespace depthgrid
