#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/config/sweep.hpp"
#include "storage/store.hpp"
#include "sweeps/launch/node_faults.hpp"
#include "sweeps/launch/sweep_events.hpp"
#include "sweeps/run/stop_watch.hpp"
#include "sweeps/slurm/scheduler.hpp"

namespace depthgrid {

/// A task of a Slurm array that has ended with cells left.
struct TaskReturn {
  const Sweep& sweep;
  const Store& store;
  EventLog& events;
  StopWatch& signals;               // of this process
  std::filesystem::path task_file;  // of its submission
  std::vector<std::string> cells;   // ids
  int code = 0;                     // with which its supervisor ended
  int signal = 0;                   // that stopped it first; 0 = unknown
  double ran = 0;                   // s
};

/// Puts this process's task back into Slurm's queue if it was stopped, or if cells failed by the
/// fault of nodes, which are left out then. Not if somebody has ended the task there, or if the
/// last two times brought its cells no further (those in which it had run for less than what was
/// left of its time do not count). Where Slurm refuses to requeue it, its cells are
/// submitted anew. Slurm ends this process meanwhile.
void return_task(const TaskReturn& task);

/// Faults of nodes by which launches of this start of a task have failed and left cells that would
/// be tried again, one for each node; one without a name: of one of several.
/// @param task  as this_task(). @param restart  as restart_of_task().
std::vector<NodeFault> faults_of_task(const Store& store, const std::vector<std::string>& cells,
                                      const std::string& task, std::int64_t restart);

/// Records them in the store, and keeps what waits in the queue away from a node at its first one.
/// @param task_file  of the submission.
/// @return why the sweep ends: it has met more nodes at fault than may be left out; empty if it
///         goes on.
std::string leave_out_nodes(const Sweep& sweep, const Store& store, EventLog& events,
                            const std::filesystem::path& task_file,
                            const std::vector<NodeFault>& faults, const Scheduler& scheduler);

/// Checks this node (sweeps/slurm/node_check) before the task begins, and records a fault as a
/// launch of the task that ended by it. @return whether there is one.
bool found_node_fault(const Store& store, const std::vector<std::string>& cells, EventLog& events);

}  // namespace depthgrid
