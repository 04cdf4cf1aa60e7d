#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sweeps/doctor/finding.hpp"
#include "sweeps/slurm/partition.hpp"

namespace depthgrid {

/// What a partition does to a task that it preempts.
struct PartitionGrace {
  std::string name;
  std::string preempt_mode;  // "OFF", "REQUEUE", …; "" = not reported
  std::int64_t grace = 0;    // s between its first signal and KILL
};

/// The lines of `scontrol show partition`; "GraceTime=00:01:00" or seconds.
std::vector<PartitionGrace> partition_graces(const std::string& text);

/// What Slurm says about itself.
struct SlurmFacts {
  std::string version;
  std::map<std::string, std::string> config;  // of `scontrol show config`
  std::vector<std::string> mpi;               // of `srun --mpi=list`
  std::vector<SlurmPartition> partitions;
  std::vector<PartitionGrace> graces = {};  // of `scontrol show partition`
  std::string submit_limits = {};           // of sacctmgr; see submit_limit_finding()
  double answer_seconds = 0;

  std::string value(const std::string& key) const;  // of `config`; "" if it is not there
  bool has_pmix() const;                            // by which srun starts Open MPI's ranks
};

/// Asks Slurm. @param problem  set if it is there but does not answer.
/// @return nothing if there is no Slurm here, or no answer.
std::optional<SlurmFacts> slurm_facts(const CommandRunner& run, std::vector<Finding>& problem);

/// Time that a task has between TERM and KILL, where scancel or the time limit ends it.
/// @param kill_wait  of `scontrol show config`, "30 sec"; "" = not reported.
/// @param signal_delay  leaf slurm.signal_delay, s.
Finding kill_wait_finding(const std::string& kill_wait, std::int64_t signal_delay);

/// The same of a preemption; one for each partition that preempts.
std::vector<Finding> grace_findings(const std::vector<PartitionGrace>& partitions,
                                    std::int64_t signal_delay);

/// How many tasks this user may have in the queue.
/// @param lines  of `sacctmgr -nP show assoc user=NAME format=MaxSubmitJobs`: numbers, empty where
///               there is no limit. @param array_size  MaxArraySize.
Finding submit_limit_finding(const std::string& lines, std::int64_t array_size);

/// @param signal_delay  leaf slurm.signal_delay, s.
std::vector<Finding> slurm_findings(const SlurmFacts& facts, std::int64_t signal_delay);

}  // namespace depthgrid
