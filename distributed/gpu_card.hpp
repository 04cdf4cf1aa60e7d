#pragma once

#include <string>

namespace depthgrid {

/// What identifies one GPU, or one slice of a divided GPU (MIG).
struct GpuCard {
  std::string bus;  ///< PCI bus id, "0000:3b:00.0": the same on identical hosts, and for all slices
  std::string uuid;  ///< "GPU-5fd3…", unique in the world; empty if the driver gives none
};

}  // namespace depthgrid
