#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "core/config/sweep.hpp"
#include "sweeps/plan/plan_report.hpp"
#include "sweeps/simulate/cluster_model.hpp"

namespace depthgrid {

/// What `plan --simulate` asks for.
struct SimulationRequest {
  std::vector<ClusterModel> clusters = {};  // none: nothing is simulated
  std::int64_t repetitions = 1;
};

/// Prints what `run` would do, for `plan` and `run --dry-run`. Reads the store if there is one;
/// asks the worker about structures that are not in the cache, and plans without costs if the
/// worker cannot answer. @return the exit code.
int print_plan(const Sweep& sweep, const std::filesystem::path& store, std::int64_t teams,
               bool json, const SimulationRequest& request = {});

}  // namespace depthgrid
