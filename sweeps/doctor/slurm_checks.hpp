#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sweeps/doctor/finding.hpp"
#include "sweeps/slurm/partition.hpp"

namespace depthgrid {

/// What Slurm says about itself.
struct SlurmFacts {
  std::string version;
  std::map<std::string, std::string> config;  // of `scontrol show config`
  std::vector<std::string> mpi;               // of `srun --mpi=list`
  std::vector<SlurmPartition> partitions;
  double answer_seconds = 0;
};

/// "MaxArraySize            = 1001" and its like.
std::map<std::string, std::string> slurm_config(const std::string& text);
/// The kinds that `srun --mpi=list` lists, on stdout or stderr.
std::vector<std::string> mpi_kinds(const std::string& text);

/// Asks Slurm. @param problem  set if it is there but does not answer.
/// @return nothing if there is no Slurm here, or no answer.
std::optional<SlurmFacts> slurm_facts(const CommandRunner& run, std::vector<Finding>& problem);

std::vector<Finding> slurm_findings(const SlurmFacts& facts);

}  // namespace depthgrid
