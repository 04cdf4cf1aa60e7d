#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sweeps/launch/node_faults.hpp"
#include "sweeps/slurm/scheduler.hpp"

namespace depthgrid {

/// The faults recorded in a store (sweeps/launch/node_faults) of nodes that this cluster has; a
/// store may have been on another one, or on machines that are no nodes, and a scheduler refuses
/// names that it does not know. Where it names no nodes, those that tasks have recorded.
std::vector<NodeFault> faults_here(const Scheduler& scheduler, const std::filesystem::path& store);

/// Names of these, which a task leaves out besides those of slurm.exclude.
std::vector<std::string> excluded_nodes(const Scheduler& scheduler,
                                        const std::filesystem::path& store);

/// sweep_fault() on a cluster.
/// @param faults      faults_here(). @param partitions  that the sweep may use.
/// @param shown       the store as its user names it.
std::string sweep_fault_on(const std::vector<NodeFault>& faults,
                           const std::vector<SlurmPartition>& partitions, const std::string& shown);

/// Keeps all tasks of the store's submissions that wait away from the nodes at fault, besides those
/// that they leave out already: called at a node's first fault, before it takes the next task.
/// @param faults  faults_here().
/// @return what the scheduler objects to; empty if all was done.
std::string keep_waiting_away(const Scheduler& scheduler, const std::filesystem::path& store,
                              const std::vector<NodeFault>& faults);

/// Lets them use a node again that has been readmitted. @return as keep_waiting_away()
std::string let_waiting_use(const Scheduler& scheduler, const std::filesystem::path& store,
                            const std::string& node);

}  // namespace depthgrid
