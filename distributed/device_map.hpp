#pragma once

#include <optional>
#include <string>

#include "distributed/collective.hpp"

namespace depthgrid {

/// Device index for one rank: 0 if the rank sees a single GPU (bound by the launcher), else its
/// local rank.
/// @param devices  number of GPUs that this rank sees; 0 gives none.
/// @throws UserError (BadConfig) if `devices` is neither 0, 1 nor at least `local_size`; the
///         message shows the environment variables that decide it.
std::optional<int> device_for(int devices, int local_rank, int local_size);

/// Compares the devices of all ranks; collective over `world` (host tensors).
/// @param device_name  "host 0000:3b:00.0" of this rank's GPU, empty for a rank on the CPU.
/// @throws UserError (BadConfig) naming the ranks if two share a GPU.
void expect_distinct_devices(Collective& world, const std::string& device_name);

/// Number of CPUs that this process may run on.
int usable_cpus();

/// A warning if `threads` exceed `cpus`, else none: threads that share a core wait for each other
/// at every barrier, which costs a factor of ten or more, not of two.
std::optional<std::string> affinity_warning(int cpus, int threads);

/// The problem, if the launcher (mpirun or srun) started a number of ranks other than `world_size`:
/// MPI then does not recognise the launcher, and every rank would train alone.
std::optional<std::string> world_size_problem(int world_size);

}  // namespace depthgrid
