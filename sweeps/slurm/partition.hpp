#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace depthgrid {

/// Nodes of one kind in one partition.
struct SlurmPartition {
  std::string name;
  bool standard = false;                        // Slurm's default
  std::int64_t nodes = 0, cores = 0, gpus = 0;  // cores and GPUs of each
  std::int64_t idle = 0;  // nodes on which nothing runs; 0 also if not reported
  double memory_mb = 0;
  std::string limit;  // "1-00:00:00", "infinite"
};

/// What sinfo is asked for slurm_partitions().
inline constexpr const char* kPartitionFormat = "%P|%D|%c|%m|%G|%l|%A";

/// Lines "gpu*|4|8|16000|gpu:a100:4|1-00:00:00|3/1" of sinfo, where the last part is the nodes at
/// work and those that idle, and may be missing; others are left out.
std::vector<SlurmPartition> slurm_partitions(const std::string& text);
/// GPUs of "gpu:a100:4(S:0-1),shard:8": 4.
std::int64_t gpus_of_gres(const std::string& gres);

/// Those of a list of names such as "gpu,high"; "" = the default.
std::vector<SlurmPartition> partitions_named(const std::vector<SlurmPartition>& all,
                                             const std::string& names);

/// Slurm takes a job whose time is above its partition's limit, and lets it wait for ever.
/// @param time  as sbatch reads it. @param from  where it stands. @return why no partition of
/// `names` would start it, with the
///              limits, and what would; empty if one may, or nothing is known.
std::string time_problem(const std::vector<SlurmPartition>& all, const std::string& names,
                         const std::string& time, const std::string& from = "resources.time");

}  // namespace depthgrid
