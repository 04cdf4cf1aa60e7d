#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "storage/files/publish.hpp"
#include "storage/plan_sequence.hpp"
#include "sweeps/queue/cell_requests.hpp"
#include "sweeps/run/cell_accounts.hpp"
#include "tests/storage/synthetic_sweep.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid::testing {

/// A store in which things happen by hand.
class PretendedStore : public ::testing::Test {
 protected:
  explicit PretendedStore(Sweep sweep = synthetic_sweep({1e-3, 2e-3}, 1))
      : sweep_(std::move(sweep)) {
    publish_plan(store_, sweep_);
  }

  const CellId& id(std::size_t row) const { return sweep_.cells[row].id; }
  std::string root() const { return store_.root().string(); }
  Listing listing() const { return list_store(store_, "st"); }

  void launched(const std::string& launch, LaunchEnd end, std::int64_t attempt = 1) {
    LaunchRecord record;
    record.id = launch;
    record.attempt = attempt;
    record.cells = {id(0)};
    record.host = "n1";
    record.slurm_job = "7_1";
    record.end = end;
    record.code = end == LaunchEnd::Done ? 0 : 139;
    record.seconds = 5;
    make_folders(launch_folder(store_.root(), launch));
    keep_record(store_.root(), record);
  }
  /// Both cells as the only task, of array 7.
  void submitted() {
    Submission one{
        .id = "5b", .time = "2026-01-01T00:00:00Z", .tasks = {{id(0), id(1)}}, .arrays = {}};
    one.arrays.push_back({.script = "array-0.sbatch", .comment = "c", .tasks = 1, .job = "7"});
    keep_submission(store_.root(), one);
  }
  void fail(std::size_t row, const std::string& report) {
    const auto lease = leases_.try_acquire(store_.cell_dir(id(row)));
    ASSERT_TRUE(lease);
    store_.publish_failure(id(row), lease->generation(), CellStatus::Failed, report);
  }
  /// As a process of this or another machine has claimed the cell.
  void claim(std::size_t row, const ProcessIdentity& owner) {
    const auto folder = store_.cell_dir(id(row));
    publish_once(folder / "gen-000001", to_json(owner));
    publish_once(folder / "hb-000001", std::string_view("0000000000000000001 beats\n"));
  }
  static LiveTask task(std::vector<std::string> cells, const std::string& state,
                       const std::string& reason) {
    QueuedTask queued;
    queued.job = "7_0";
    queued.state = state;
    queued.reason = reason;
    return {.submission = "5b", .task = 0, .queued = queued, .cells = std::move(cells)};
  }
  CellAccount account(std::size_t row, const std::vector<LiveTask>& queue = {},
                      const std::set<CellId>& silent = {}) const {
    const Listing cells = listing();
    const StoredPlan plan = read_plan(store_);
    return CellAccounts(store_, {.cells = cells, .plan = plan, .queue = queue, .silent = silent})
        .of(row);
  }

  TemporaryFolder scratch_;
  Sweep sweep_;
  Store store_ = Store::open_or_create(scratch_.path() / "store");
  LeaseKeeper leases_;
};

}  // namespace depthgrid::testing
