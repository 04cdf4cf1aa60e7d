#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "core/config/sweep.hpp"
#include "storage/store.hpp"
#include "sweeps/launch/sweep_events.hpp"

namespace depthgrid {

/// A task of a Slurm array that has ended with cells left.
struct TaskReturn {
  const Sweep& sweep;
  const Store& store;
  EventLog& events;
  std::filesystem::path task_file;  // of its submission
  std::vector<std::string> cells;   // ids
  int code = 0;                     // with which its supervisor ended
  int signal = 0;                   // that stopped it first; 0 = unknown
};

/// Puts this process's task back into Slurm's queue if it was stopped, or if cells failed by the
/// fault of nodes, which are left out then. Not if somebody has ended the task there, or if the
/// last two times brought its cells no further. Where Slurm refuses to requeue it, its cells are
/// submitted anew. Slurm ends this process meanwhile.
void return_task(const TaskReturn& task);

/// Nodes by whose fault launches of this start of a task have failed and left cells that would be
/// tried again; "" among them: one of several.
/// @param task  as this_task(). @param restart  as restart_of_task().
std::set<std::string> nodes_at_fault(const Store& store, const std::vector<std::string>& cells,
                                     const std::string& task, std::int64_t restart);

/// Looks at this node (sweeps/slurm/node_check) before the task begins, and records a fault as a
/// launch of the task that ended by it. @return whether there is one.
bool found_node_fault(const Store& store, const std::vector<std::string>& cells, EventLog& events);

}  // namespace depthgrid
