#pragma once

#include <cstdint>
#include <vector>

#include "sweeps/plan/job_plan.hpp"
#include "sweeps/simulate/cluster_model.hpp"

namespace depthgrid {

/// One run of a sweep on a cluster, simulated.
struct SimulatedRun {
  double makespan = 0;        // until the last job ends, s
  double allocated = 0;       // device-seconds of all allocations up to then
  double busy = 0;            // device-seconds in which jobs started or computed
  double lost = 0;            // device-seconds of work that was done again
  std::int64_t restarts = 0;  // of jobs that were interrupted
};

/// Discrete-event simulation: free devices take jobs by the rules of a run (ReadyJobs). A job of R
/// ranks takes R devices of one node, or whole nodes if R is larger. When a node's allocation ends,
/// its jobs are interrupted and continue elsewhere: from where they were at a time limit, which is
/// announced; from their last checkpoint after a preemption.
///
/// Pure: equal arguments give equal runs on every machine.
/// @param jobs  in the order of the plan, all with predicted times.
/// @throws UserError (BadConfig) if a job does not fit the cluster, or would never end on it.
SimulatedRun simulate(const std::vector<FusedJob>& jobs, const ClusterModel& cluster,
                      std::uint64_t seed);

}  // namespace depthgrid
