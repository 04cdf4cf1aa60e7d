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
#include "sweeps/plan/structure_cost.hpp"
#include "sweeps/protocol/commands.hpp"
#include "worker/audit/audit_permit.hpp"
#include "worker/data_pool.hpp"
#include "worker/label_pool.hpp"
#include "worker/process/progress.hpp"
#include "worker/process/run_setup.hpp"
#include "worker/process/watchdog.hpp"

namespace depthgrid {

// What all jobs of a run share is made once per rank, in phases. Each asks the ranks for something
// together (all of the world, unless it says the team), so that their order is that of the bases of
// RunContext on every rank.

/// 1. What is logged from here on goes to the store, too.
struct RunLog {
  std::vector<std::string>
      logs;  // files of the team's ranks, for provenance; first this one's alone
  /// @throws StorageError
  explicit RunLog(const Store& store);
};

/// 2. On what this rank computes.
struct RunDevice {
  std::vector<std::string> warnings;  // concern every cell that this rank trains
  DeviceChoice device;
  std::int64_t threads;
  /// @param local_rank  position among the ranks of this host.
  /// @throws UserError (BadConfig) on every rank if a GPU is missing
  RunDevice(const Sweep& sweep, Collective& world, int local_rank);
};

/// 3. With whom it trains.
struct RunTeam {
  CostTable quick_costs;  // for the order of jobs; the same on every rank
  int ranks_per_job;      // of every team
  Team team;
  /// @param local_size  ranks of this host. @throws UserError for a team larger than the world
  RunTeam(const RunCommand& command, const Sweep& sweep, const DeviceChoice& device,
          Collective& world, int local_size);
};

/// 4. On what it trains.
struct RunCorpora {
  DataPool data;
  LabelPool labels;  // of what is in `data`
  /// @throws UserError on every rank for a corpus or a label that cannot be read
  RunCorpora(const Sweep& sweep, const Store& store, Collective& world, Watchdog& watchdog);
};

/// 5. How the team sums gradients.
struct RunLinks {
  std::unique_ptr<Collective> nccl;  // of the team's GPUs, if they use it
  BucketSync sync;
  /// Collective over the team.
  RunLinks(Team& team, const RunDevice& own, int local_size);
};

/// The phases above, and what needs them all.
struct RunContext : RunLog, RunDevice, RunTeam, RunCorpora, RunLinks {
  /// Collective over `world`. @param sweep_, store_, watchdog_  must outlive this.
  /// @param local_rank, local_size  position among the ranks of this host, and their number.
  /// @throws as the phases
  RunContext(const RunCommand& command, const Sweep& sweep_, const Store& store_, Collective& world,
             int local_rank, int local_size, Watchdog& watchdog_);

  const Sweep& sweep;
  const Store& store;
  StoredPlan plan;               // of this sweep alone, as it is or will be in the store
  CostTable costs;               // for predictions; has every structure
  std::string library_versions;  // JSON
  Progress progress;
  Watchdog& watchdog;  // of this rank
  FaultPoint fault{};
  AuditPermit permit = {};  // passed by every structure that trains
};

}  // namespace depthgrid
