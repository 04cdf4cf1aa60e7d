#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sweeps/doctor/finding.hpp"
#include "sweeps/doctor/slurm_limits.hpp"
#include "sweeps/slurm/partition.hpp"

namespace depthgrid {

/// What Slurm says about itself.
struct SlurmFacts {
  std::string version;
  std::map<std::string, std::string> config;  // of `scontrol show config`
  std::vector<std::string> mpi;               // of `srun --mpi=list`
  std::vector<SlurmPartition> partitions;
  std::vector<PartitionGrace> graces = {};  // of `scontrol show partition`
  std::string submit_limits = {};           // of sacctmgr; see submit_limit_finding()
  double answer_seconds = 0;
};

/// Asks Slurm. @param problem  set if it is there but does not answer.
/// @return nothing if there is no Slurm here, or no answer.
std::optional<SlurmFacts> slurm_facts(const CommandRunner& run, std::vector<Finding>& problem);

/// @param signal_delay  leaf slurm.signal_delay, s.
std::vector<Finding> slurm_findings(const SlurmFacts& facts, std::int64_t signal_delay);

}  // namespace depthgrid
