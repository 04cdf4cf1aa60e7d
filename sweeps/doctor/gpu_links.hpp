#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "sweeps/doctor/finding.hpp"

namespace depthgrid {

/// How GPUs reach each other, from `nvidia-smi topo -m`.
Finding links_finding(const std::string& topology);

/// Whether GPUs read each other's memory, from `nvidia-smi topo -p2p r`: "OK", or why not.
Finding peer_finding(const std::string& matrix);

/// The NCCL that the GPU plug-in is linked to.
/// @param libraries  what `ldd` says of the plug-in. @param needed  a GPU is there.
/// @param version    of a library by its path, "2.27.3"; "" if it cannot be asked.
Finding nccl_finding(const std::string& libraries, bool needed,
                     const std::function<std::string(const std::string& path)>& version);

/// Loads the library and asks it; it needs no driver for that.
std::string nccl_version_of(const std::string& path);

}  // namespace depthgrid
