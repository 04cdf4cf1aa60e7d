#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/config/sweep.hpp"
#include "sweeps/plan/job_plan.hpp"
#include "sweeps/slurm/batch_script.hpp"
#include "sweeps/slurm/partition.hpp"

namespace depthgrid {

/// Tasks that ask the cluster for the same.
struct TaskGroup {
  std::int64_t ranks = 1;  // of each job
  bool canary = false;     // one cell of each structure, for which the others wait
  TaskRequest request;
  std::vector<std::vector<std::string>> tasks;  // ids of the cells of each
};

/// What the division of cells into tasks depends on, besides the sweep.
struct TaskPlanOptions {
  bool canary = false;
  std::int64_t most_ranks = 1;               // of a team; see most_ranks()
  std::vector<std::string> left_out;         // nodes, for their faults
  std::optional<std::int64_t> seconds;       // of a task; see task_request()
  CostTable times;                           // of structures that this machine has measured
  CostTable counts;                          // of all structures; read where ranks_per_job is auto
  std::vector<SlurmPartition> partitions{};  // that tasks may use; empty: not known
};

/// Jobs that could begin at once on nodes that idle, if each task asks for this; those of the
/// partition with the most. 0 = none, or not known.
std::int64_t idle_slots(const TaskRequest& request, const std::vector<SlurmPartition>& partitions);

/// Divides the wanted cells among tasks: canaries first, then the widest teams, each number of
/// ranks in a group of its own, longest jobs first. Cells that start from other wanted cells are in
/// one task with these. A task is as long as lets each slot that idles have four of them, between
/// five minutes and an hour, and an hour where nothing is known to idle; never longer than half of
/// its time limit. Pure.
std::vector<TaskGroup> task_groups(const Sweep& sweep, std::vector<bool> wanted,
                                   const TaskPlanOptions& options);

/// Jobs that start from each other, directly or not, together: indices, in the order of the first
/// of each.
std::vector<std::vector<std::size_t>> chains_of(const std::vector<FusedJob>& jobs);

}  // namespace depthgrid
