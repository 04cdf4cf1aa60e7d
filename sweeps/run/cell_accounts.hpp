#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/base/processes.hpp"
#include "storage/plan_file.hpp"
#include "storage/store.hpp"
#include "sweeps/launch/launch_record.hpp"
#include "sweeps/launch/node_faults.hpp"
#include "sweeps/launch/sweep_events.hpp"
#include "sweeps/report/listing.hpp"
#include "sweeps/run/cell_account.hpp"
#include "sweeps/slurm/submission.hpp"

namespace depthgrid {

/// What is known of a store beside its own records.
struct AccountSources {
  const Listing& cells;
  const StoredPlan& plan;         // all plans of the store as one, see read_plan()
  std::vector<LiveTask> queue{};  // tasks of the store's submissions in Slurm's queue
  std::string queue_problem{};    // why that is not known; empty if it is
  std::set<CellId> silent{};      // cells whose owners give no sign of life
};

/// Says of cells why they are not done: by the store's records and these sources. Takes no lock and
/// changes nothing.
class CellAccounts {
 public:
  /// @param store, sources  what they refer to outlives this.
  CellAccounts(const Store& store, AccountSources sources);

  /// @param row  of the listing.
  CellAccount of(std::size_t row) const;

 private:
  /// Its answer with what that rests on, and the commands: all that is said of a cell for the sake
  /// of those which start from it.
  CellAccount answered(std::size_t row) const;
  CellAnswer answer_of(const CellAccount& account) const;
  const StoredCell* planned(const CellId& id) const;  // null if no plan has it
  std::optional<std::size_t> source_of(const CellId& id) const;
  std::optional<CellAccount::Failure> failure_of(const CellId& id) const;
  CellAccount::Cancel cancel_of(const CellId& id) const;
  void add_notes(CellAccount& out, const CellSummary& cell) const;
  void add_logs(CellAccount& out) const;
  void add_task_logs(CellAccount& out) const;
  void add_events(CellAccount& out) const;
  void add_commands(CellAccount& out, const CellSummary& cell) const;
  bool left_out(const std::string& node) const;

  const Store& store_;
  AccountSources sources_;
  std::vector<SweepEvent> events_;
  std::vector<LaunchRecord> launches_;
  std::vector<Submission> submissions_;
  std::vector<NodeFault> faults_;
  std::map<CellId, std::size_t> rows_, planned_;  // of the listing, of the plan
  std::int64_t training_ = 0;                     // cells
};

/// Those of the cells that processes have of which this one cannot know whether they live, such as
/// those on other machines: their heartbeats are to be watched (cells_at_work()).
std::vector<CellId> owned_elsewhere(const Store& store, const std::vector<CellId>& cells,
                                    const Processes& processes = real_processes());

}  // namespace depthgrid
