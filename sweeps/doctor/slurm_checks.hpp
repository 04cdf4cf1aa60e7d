#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sweeps/doctor/finding.hpp"

namespace depthgrid {

/// Nodes of one kind in one partition.
struct SlurmPartition {
  std::string name;
  bool standard = false;  // Slurm's default
  std::int64_t nodes = 0, cores = 0, gpus = 0;
  double memory_mb = 0;
  std::string limit;  // "1-00:00:00", "infinite"
};

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
/// Lines "gpu*|4|8|16000|gpu:a100:4|1-00:00:00" of sinfo; others are left out.
std::vector<SlurmPartition> slurm_partitions(const std::string& text);
/// GPUs of "gpu:a100:4(S:0-1),shard:8": 4.
std::int64_t gpus_of_gres(const std::string& gres);

/// Asks Slurm. @param problem  set if it is there but does not answer.
/// @return nothing if there is no Slurm here, or no answer.
std::optional<SlurmFacts> slurm_facts(const CommandRunner& run, std::vector<Finding>& problem);

std::vector<Finding> slurm_findings(const SlurmFacts& facts);

}  // namespace depthgrid
