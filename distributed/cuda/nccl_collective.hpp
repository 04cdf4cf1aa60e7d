#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "distributed/collective.hpp"

namespace depthgrid {

/// An NCCL group of `bootstrap`'s ranks, on each rank's current CUDA device. Part of the GPU
/// plug-in; programs call make_nccl_collective (device_plugin.hpp).
/// @throws BackendError if NCCL fails or a peer does not join within `timeout`.
std::unique_ptr<Collective> connect_nccl(Collective& bootstrap, std::chrono::milliseconds timeout);

/// Version of the loaded library ("2.27.5"); empty if unknown.
std::string nccl_version();

}  // namespace depthgrid
