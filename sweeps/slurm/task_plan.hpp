#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/config/sweep.hpp"
#include "sweeps/plan/job_plan.hpp"
#include "sweeps/slurm/batch_script.hpp"

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
  std::int64_t most_ranks = 1;          // of a team; see most_ranks()
  std::vector<std::string> left_out;    // nodes, for their faults
  std::optional<std::int64_t> seconds;  // of a task; see task_request()
  CostTable times;                      // of structures that this machine has measured
  CostTable counts;                     // of all structures; read where ranks_per_job is auto
};

/// Divides the wanted cells among tasks: canaries first, then the widest teams, each number of
/// ranks in a group of its own, longest jobs first. Cells that start from other wanted cells are in
/// one task with these. Pure.
std::vector<TaskGroup> task_groups(const Sweep& sweep, std::vector<bool> wanted,
                                   const TaskPlanOptions& options);

/// Jobs that start from each other, directly or not, together: indices, in the order of the first
/// of each.
std::vector<std::vector<std::size_t>> chains_of(const std::vector<FusedJob>& jobs);

}  // namespace depthgrid
