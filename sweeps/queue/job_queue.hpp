#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/base/clock.hpp"
#include "core/config/sweep.hpp"
#include "storage/cells/cell_history.hpp"
#include "storage/files/lease_keeper.hpp"
#include "storage/hdf5/checkpoint.hpp"
#include "storage/store.hpp"
#include "sweeps/plan/job_plan.hpp"
#include "sweeps/queue/start_permit.hpp"
#include "sweeps/report/failure_report.hpp"

namespace depthgrid {

/// Cells that train together, starting after the same step.
struct SessionJob {
  std::string id;
  std::vector<std::size_t> rows;  // into Sweep::cells
  std::int64_t first_step = 0;    // steps already done
};

/// A cell that this process holds, and the state from which it continues.
struct ClaimedCell {
  std::size_t row = 0;
  Lease lease;
  std::optional<LoadedCheckpoint> state;  // none: from the start
  std::vector<std::string> rejected;      // damaged checkpoints that were skipped
  CellHistory before;                     // what earlier attempts have recorded
  std::vector<std::string> damages = {};  // damaged files of the cell; they were quarantined
};

/// Cells taken together from the store, ready for a session.
struct Claim {
  SessionJob job;
  std::vector<ClaimedCell> cells;
};

/// Whether a cell has died too often: attempts that got no further than those before them and ended
/// by a fault of their own, or without a result though they had reached their end. An attempt that
/// was killed from outside does not count.
/// @param crashed        generations whose process a fault has ended: Store::crash_mark().
/// @param failed_before  generation of its newest failure, 0 if there is none: attempts up to it
///                       were reported and no longer count.
/// @param budget         leaf retry.crash: number of such deaths allowed.
/// @return  the text of the report; nothing while the cell may be tried again.
std::optional<std::string> died_too_often(const CellHistory& history,
                                          const std::set<std::int64_t>& crashed,
                                          std::int64_t failed_before, std::int64_t budget);

/// Number of parameters of a cell's model: a checkpoint with a different number is useless.
using ParameterCount = std::function<std::int64_t(const CellConfig&)>;

/// A cell that has failed for good before it could train, and why.
struct LostCell {
  std::size_t row = 0;
  std::string why;
};

/// Which cells of a sweep this team may train next. Its only memory is the store: a cell is done
/// when its result is there, taken while its lease is held.
class JobQueue {
 public:
  enum class State : std::uint8_t { Claimed, Waiting, Finished };

  /// @param jobs          see plan_jobs(). @param parameters  of the models of this build.
  /// @param crash_budget  leaf retry.crash. All references outlive the queue.
  JobQueue(const Sweep& sweep, const Store& store, LeaseKeeper& leases, std::vector<FusedJob> jobs,
           ParameterCount parameters, std::int64_t crash_budget, const Clock& clock = real_clock());

  /// Takes the next job. Cells that resume from different steps come as separate groups.
  ///
  /// The cells of a job are taken together: jobs of which no cell is held come first. Of a job that
  /// others hold in part, the free cells are taken once they have been the same for a while: then
  /// no process is just claiming the job, and no more cells of a silent owner will soon be free.
  /// @param claim  set when Claimed.
  /// @return Waiting: every cell left is held by another process, which may die, or starts from
  ///         cells that are not done; Finished: no cell is left.
  State next(std::optional<Claim>& claim);

  /// Whether one of the cells that next() waits for may have lost its owner: then waiting on, for
  /// at most the time to live of its lease, gives it.
  bool may_inherit() const;

  /// Gives the cells up for this team: they have failed for good in this run.
  void give_up(const std::vector<std::size_t>& rows);

  /// Queues the halves of a job that did not fit in memory as next. Its leases must be released.
  void split(const std::vector<std::size_t>& rows);

  /// Cells without a result that this run has given up.
  std::int64_t failed() const noexcept { return failed_; }
  /// Those that next() has given up since the last call, for the display.
  std::vector<LostCell> take_lost() { return std::exchange(lost_, {}); }

 private:
  bool take(const std::vector<std::size_t>& rows);
  std::optional<ClaimedCell> begun(std::size_t row, Lease lease);
  std::set<std::int64_t> crashed(const CellId& id, const CellHistory& history) const;
  std::vector<std::size_t> free_cells(const std::vector<std::size_t>& rows);
  bool pending(std::size_t row) const;
  bool lost_elsewhere(std::size_t row);
  bool lost_meanwhile(std::size_t row, const Lease& lease);
  bool may_begin(const FusedJob& job);
  bool clear_result(std::size_t row, std::int64_t generation, std::vector<std::string>& damages);
  void lose(std::size_t row, const std::string& why);
  void report(std::size_t row, std::int64_t generation, const FailureReport& report);

  const Sweep& sweep_;
  const Store& store_;
  LeaseKeeper& leases_;
  std::vector<FusedJob> jobs_;
  ParameterCount parameters_;
  std::vector<Claim> ready_;  // groups of a job that resume from other steps
  std::vector<bool> given_up_;
  std::vector<LostCell> lost_;
  std::vector<std::int64_t> failed_before_;  // generation of the newest failure when this run began
  StartPermit start_;
  // Free cells of jobs that are held in part, and since when these were the same.
  std::map<std::vector<std::size_t>, std::chrono::steady_clock::time_point> offered_;
  std::int64_t crash_budget_;
  const Clock& clock_;
  std::int64_t failed_ = 0;
};

}  // namespace depthgrid
