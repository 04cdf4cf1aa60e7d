#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sweeps/plan/job_plan.hpp"
#include "sweeps/report/table.hpp"
#include "sweeps/simulate/cluster_model.hpp"

namespace depthgrid {

/// A number over the repetitions of a simulation.
struct Spread {
  double mean = 0;
  double deviation = 0;  // standard deviation; 0 for a single repetition
  double least = 0;
  double most = 0;
};
Spread spread_of(const std::vector<double>& values);

/// How a sweep fares on one cluster.
struct ScalingRow {
  ClusterModel cluster;
  std::size_t jobs = 0;
  std::int64_t repetitions = 1;
  double bound = 0;      // no schedule ends sooner: work per device, or the longest job, s
  Spread makespan = {};  // s
  Spread device_hours = {};
  Spread idle_share = {};  // of device_hours
  Spread lost_hours = {};  // device-hours of work that was done again
  Spread restarts = {};
};

/// The jobs are planned for each cluster as a run there would. Without preemption all repetitions
/// are equal, so there is one.
/// @param wanted  one flag per cell. @throws UserError like simulate().
std::vector<ScalingRow> scaling_of(std::vector<JobCell> cells, const std::vector<bool>& wanted,
                                   PackingOptions options, const CostTable& costs,
                                   const std::vector<ClusterModel>& clusters,
                                   std::int64_t repetitions);

/// One line per cluster, and what was assumed.
std::string scaling_text(const std::vector<ScalingRow>& rows, Colour colour = Colour::No);

/// "simulation" of the contract `plan --json`.
std::string scaling_json(const std::vector<ScalingRow>& rows);

}  // namespace depthgrid
