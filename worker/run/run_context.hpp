#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "core/config/sweep.hpp"
#include "core/train/gradient_sync.hpp"
#include "distributed/collective.hpp"
#include "storage/plan_file.hpp"
#include "storage/store.hpp"
#include "sweeps/plan/structure_cost.hpp"
#include "worker/audit/audit_permit.hpp"
#include "worker/data_pool.hpp"
#include "worker/process/progress.hpp"

namespace depthgrid {

/// What all jobs of a run share; one per rank. All references outlive the jobs.
struct RunContext {
  const Sweep& sweep;
  const Store& store;
  const StoredPlan& plan;
  DataPool& data;
  GradientSync& sync;
  Collective& team;
  Progress& progress;
  at::Device device;
  std::string device_name;  // for provenance
  std::int64_t threads = 1;
  const CostTable& costs;             // for predictions; has every structure
  const AuditPermit& permit;          // passed by every structure that trains
  std::vector<std::string> logs;      // of the team's ranks, for provenance
  std::vector<std::string> warnings;  // concern every cell that this rank trains
  std::string library_versions;       // JSON

  bool leads() const { return sync.rank() == 0; }
};

}  // namespace depthgrid
