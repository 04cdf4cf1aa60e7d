#pragma once

#include <optional>
#include <string>

#include "distributed/collective.hpp"

namespace depthgrid {

/// The GPU of one rank: 0 if this rank sees a single one (the launcher has bound it), else its
/// local rank.
/// @param devices  GPUs that this rank sees; 0: none, and the answer is none.
/// @throws UserError (BadConfig) if `devices` is neither 1 nor at least `local_size`; the message
/// shows the variables of the environment that decide it.
std::optional<int> device_for(int devices, int local_rank, int local_size);

/// Compares the devices of all ranks; collective over `world` (host tensors).
/// @param device_name  "host 0000:3b:00.0" of this rank's GPU, empty for a rank on the CPU.
/// @throws UserError (BadConfig) that names the ranks, if two share a GPU.
void expect_distinct_devices(Collective& world, const std::string& device_name);

/// CPUs that this process may run on.
int usable_cpus();

/// What to tell the user if `threads` do not fit on `cpus`: threads that share a core wait for each
/// other at every barrier, which costs a factor of ten and more, not of two.
std::optional<std::string> affinity_warning(int cpus, int threads);

/// What is wrong if the launcher of this process (mpirun or srun) has started another number of
/// ranks than `world_size`: then MPI does not know the launcher and every rank trains alone.
std::optional<std::string> world_size_problem(int world_size);

}  // namespace depthgrid
