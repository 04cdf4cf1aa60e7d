#include "sweeps/slurm/node_exclusion.hpp"

#include <algorithm>
#include <functional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sweeps/slurm/submission.hpp"

namespace depthgrid {
namespace {

using NodeNames = std::vector<std::string>;

/// Arrays of the store with tasks that wait.
std::set<std::string> waiting_arrays(const Scheduler& scheduler,
                                     const std::filesystem::path& store) {
  std::set<std::string> out;
  const auto all = submissions(store);
  if (all.empty()) return out;
  for (const LiveTask& task : live_tasks(all, scheduler.queue())) {
    if (task.queued.waits()) out.insert(task.queued.array);
  }
  return out;
}

/// Changes what they leave out. @param change  of the names that an array leaves out.
std::string change_waiting(const Scheduler& scheduler, const std::filesystem::path& store,
                           const std::function<void(NodeNames& names)>& change) {
  std::vector<std::string> problems;
  try {
    for (const std::string& array : waiting_arrays(scheduler, store)) {
      const NodeNames before = scheduler.left_out(array);
      NodeNames after = before;
      change(after);
      if (after == before) continue;
      const std::string problem = scheduler.leave_out(array, after);
      if (!problem.empty()) problems.push_back(fmt::format("array {}: {}", array, problem));
    }
  } catch (const UserError& error) {
    problems.emplace_back(error.what());
  }
  return fmt::format("{}", fmt::join(problems, "; "));
}

}  // namespace

std::vector<NodeFault> faults_here(const Scheduler& scheduler, const std::filesystem::path& store) {
  std::vector<NodeFault> out = node_faults(store);
  if (out.empty()) return out;
  const NodeNames known = scheduler.nodes();
  std::erase_if(out, [&](const NodeFault& fault) {
    return known.empty() ? fault.task.empty() : std::ranges::count(known, fault.node) == 0;
  });
  return out;
}

NodeNames excluded_nodes(const Scheduler& scheduler, const std::filesystem::path& store) {
  NodeNames out;
  for (const NodeFault& fault : faults_here(scheduler, store)) out.push_back(fault.node);
  return out;
}

std::string sweep_fault_on(const std::vector<NodeFault>& faults,
                           const std::vector<SlurmPartition>& partitions,
                           const std::string& shown) {
  std::int64_t nodes = 0;
  for (const SlurmPartition& kind : partitions) nodes += kind.nodes;
  return sweep_fault(faults, nodes, shown);
}

std::string keep_waiting_away(const Scheduler& scheduler, const std::filesystem::path& store,
                              const std::vector<NodeFault>& faults) {
  if (faults.empty()) return {};
  return change_waiting(scheduler, store, [&](NodeNames& names) {
    for (const NodeFault& fault : faults) {
      if (std::ranges::count(names, fault.node) == 0) names.push_back(fault.node);
    }
  });
}

std::string let_waiting_use(const Scheduler& scheduler, const std::filesystem::path& store,
                            const std::string& node) {
  return change_waiting(scheduler, store, [&](NodeNames& names) { std::erase(names, node); });
}

}  // namespace depthgrid
