#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "distributed/bucket_sync.hpp"
#include "distributed/team.hpp"
#include "sweeps/orders/orders.hpp"
#include "worker/process/run_setup.hpp"
#include "worker/run/run_context.hpp"

namespace depthgrid {

/// What a rank needs to train the jobs of a run, made once: log, device, threads, team, corpora.
class RunResources {
 public:
  /// Collective over `world`. @param sweep, store  must outlive this.
  /// @param local_rank, local_size  position among the ranks of this host.
  /// @throws UserError for what the user can fix: a missing GPU, a corpus that cannot be read (on
  ///         every rank), a team larger than the world.
  RunResources(const RunOrder& order, const Sweep& sweep, const Store& store, Collective& world,
               int local_rank, int local_size);

  Team& team() noexcept { return team_; }
  Progress& progress() noexcept { return progress_; }
  at::Device device() const noexcept { return device_.device; }
  const CostTable& quick_costs() const noexcept { return quick_costs_; }

  /// The part of this that jobs use. @param permit  must outlive them.
  RunContext context(const AuditPermit& permit);

 private:
  const Sweep& sweep_;
  const Store& store_;
  StoredPlan plan_;
  std::vector<std::string> warnings_;
  std::vector<std::string> logs_;
  DeviceChoice device_;
  std::int64_t threads_;
  Team team_;
  std::unique_ptr<Collective> nccl_;
  std::unique_ptr<BucketSync> sync_;
  DataPool data_;
  Progress progress_;
  CostTable quick_costs_, costs_;
};

}  // namespace depthgrid
