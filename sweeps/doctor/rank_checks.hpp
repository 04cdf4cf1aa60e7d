#pragma once

#include <filesystem>
#include <vector>

#include "core/base/machine.hpp"
#include "sweeps/doctor/finding.hpp"

namespace depthgrid {

/// What the checks of ranks start.
struct RankTrial {
  std::filesystem::path program;  // depthgrid, with its worker beside it
  std::filesystem::path folder;   // empty, for the trial's store
  bool root = false;              // this user is root
};

/// The worker, mpirun, and two ranks that train together.
std::vector<Finding> mpi_findings(const RankTrial& trial, const CommandRunner& run);

/// Driver, links, NCCL and a training on the GPUs that this process sees; where it sees several and
/// one alone trains, a second training by two ranks on two cards, whose gradients NCCL sums.
std::vector<Finding> gpu_findings(const Machine& machine, const RankTrial& trial,
                                  const CommandRunner& run);

}  // namespace depthgrid
