#pragma once

#include <string>

#include "sweeps/doctor/slurm_checks.hpp"

namespace depthgrid {

/// A file that a sweep names as its `base:`: leaves slurm.* and resources.* for the partition with
/// the most GPUs (the standard one if none has any), and the others as comments.
/// @throws UserError (BadConfig) if there is no partition.
std::string site_profile(const SlurmFacts& facts);

}  // namespace depthgrid
