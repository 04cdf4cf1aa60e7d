#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "core/base/fault_point.hpp"
#include "core/config/sweep.hpp"
#include "distributed/bucket_sync.hpp"
#include "distributed/team.hpp"
#include "storage/plan_file.hpp"
#include "storage/store.hpp"
#include "sweeps/orders/orders.hpp"
#include "sweeps/plan/structure_cost.hpp"
#include "worker/audit/audit_permit.hpp"
#include "worker/data_pool.hpp"
#include "worker/label_pool.hpp"
#include "worker/process/progress.hpp"
#include "worker/process/run_setup.hpp"
#include "worker/process/watchdog.hpp"

namespace depthgrid {

/// What all jobs of a run share, made once per rank: log, device, threads, team, corpora.
struct RunContext {
  /// Collective over `world`. @param sweep_, store_, watchdog_  must outlive this.
  /// @param local_rank, local_size  position among the ranks of this host, and their number.
  /// @throws UserError for what the user can fix: a missing GPU, a corpus that cannot be read (on
  ///         every rank), a team larger than the world.
  RunContext(const RunOrder& order, const Sweep& sweep_, const Store& store_, Collective& world,
             int local_rank, int local_size, Watchdog& watchdog_);

  const Sweep& sweep;
  const Store& store;
  StoredPlan plan;                    // of this sweep alone, as it is or will be in the store
  std::vector<std::string> warnings;  // concern every cell that this rank trains
  std::vector<std::string> logs;      // of the team's ranks, for provenance
  DeviceChoice device;
  std::int64_t threads;
  CostTable quick_costs;  // for the order of jobs; the same on every rank
  int ranks_per_job;      // of every team
  Team team;
  DataPool data;
  LabelPool labels;                  // of what is in `data`
  std::unique_ptr<Collective> nccl;  // of the team's GPUs, if they use it
  BucketSync sync;
  CostTable costs;               // for predictions; has every structure
  std::string library_versions;  // JSON
  Progress progress;
  Watchdog& watchdog;  // of this rank
  FaultPoint fault{};
  AuditPermit permit = {};  // passed by every structure that trains
};

}  // namespace depthgrid
