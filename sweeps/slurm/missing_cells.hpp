#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/base/cell.hpp"
#include "core/base/clock.hpp"
#include "core/config/sweep.hpp"
#include "storage/store.hpp"

namespace depthgrid {

/// Why a cell of the plan is submitted, or is not.
enum class CellNeed : std::uint8_t {
  Wanted,
  Done,
  Queued,     // a task in Slurm's queue has it
  Cancelled,  // by a user
  Held,       // a run at work has it
  Failed,     // and would fail again: depthgrid retry makes it wanted
  Waits       // for a cell that it starts from and that is neither done nor wanted
};

/// What one cell needs. @param queued, at_work  ids of cells that others have.
CellNeed need_of(const Store& store, const CellId& id, const std::set<CellId>& queued = {},
                 const std::set<CellId>& at_work = {});

/// What is left to submit of a sweep.
struct MissingCells {
  std::vector<CellNeed> needs;  // by row
  std::vector<bool> wanted() const;
  std::int64_t count(CellNeed need) const;
};

/// @param queued  cells of tasks in the queue. @param at_work  cells that runs hold.
MissingCells missing_cells(const Sweep& sweep, const Store& store, const std::set<CellId>& queued,
                           const std::set<CellId>& at_work);

/// True for the class of a failure ("oom", "crash", …) that another attempt would repeat, and false
/// for those of the machine ("infrastructure", "killed", "disk").
bool fails_again(const std::string& failure_class);

/// Finds the cells whose claims are kept alive, seen by their heartbeats: owners on other machines
/// may be dead.
class HeartbeatWatch {
 public:
  /// Observes the claimed ones of these cells. @param until  when the last observation is.
  HeartbeatWatch(const Store& store, const std::vector<CellId>& cells, double until);

  /// Observes them again. @return whether it is to be called once more: there are claims left that
  /// have not been seen to change, and time.
  bool tick(double now);

  const std::set<CellId>& at_work() const noexcept { return at_work_; }

 private:
  struct Claim {
    std::int64_t generation = 0;
    std::string heartbeat;
  };
  const Store& store_;
  double until_;
  std::map<CellId, Claim> claims_;
  std::set<CellId> at_work_;
};

/// What a HeartbeatWatch finds within ttl/3. @param ttl  leaf resources.lease.
std::set<CellId> cells_at_work(const Store& store, const std::vector<CellId>& cells,
                               std::chrono::milliseconds ttl, const Clock& clock = real_clock());

}  // namespace depthgrid
