#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/config/cell_config.hpp"

namespace depthgrid {

/// What each task of a submission asks the cluster for: the leaves resources.* and slurm.*.
struct TaskRequest {
  std::int64_t nodes = 1, gpus = 0, cores = 1;  // of each node; gpus 0: none
  std::int64_t slots = 1;                       // jobs at the same time, over all nodes
  std::string memory, time;                     // as sbatch reads them; "" = the cluster's default
  std::int64_t time_seconds = 0;                // that a task has at least; 0 = not known
  std::int64_t parallel = 0;                    // tasks at the same time; 0 = any number
  std::int64_t signal_seconds = 240;
  bool requeue = true;
  std::vector<std::string> options;  // further words "--partition=gpu", allow-listed
};

/// @param faulty  nodes left out besides those of slurm.exclude.
/// @param ranks   of the tasks' jobs; 0 = resources.ranks_per_job, or 1 where that is auto.
/// @param seconds SbatchRequest::time_seconds(); none: resources.time alone says it.
TaskRequest task_request(const CellConfig& run, const std::vector<std::string>& faulty,
                         std::int64_t ranks = 0,
                         std::optional<std::int64_t> seconds = std::nullopt);

/// Ranks of the largest team that a task can have, where resources.ranks_per_job is auto.
/// @param cores, gpus  of a node of the partition; 0 = unknown.
std::int64_t most_ranks(const CellConfig& run, std::int64_t cores, std::int64_t gpus);

/// One array of a submission.
struct BatchArray {
  std::string name, comment;  // shown by squeue
  std::int64_t tasks = 1;     // indices 0 … tasks - 1
  std::int64_t offset = 0;    // line of index 0 in the file of tasks
  std::int64_t parallel = 0;
  std::optional<std::size_t> behind = {};  // array of the submission for whose end it waits
  std::string dependency;                  // "" = none
  // Absolute paths:
  std::string program, sweep, store, task_file, log_folder;
};

/// @throws UserError (Usage) for a path with a quote, a backslash, a $ or a line break, which no
/// batch script holds.
void require_script_path(const std::string& path);

/// The text of a batch script. Pure. It holds no text of the user but allow-listed words and paths,
/// which stand in quotes. The program replaces the shell, so that the signal before the time limit
/// (`--signal=B:`) reaches it.
/// @throws UserError (Usage) as require_script_path()
std::string batch_script(const TaskRequest& request, const BatchArray& array);

}  // namespace depthgrid
