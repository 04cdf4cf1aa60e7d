#include "sweeps/slurm/missing_cells.hpp"

#include <memory>

#include <gtest/gtest.h>

#include "storage/files/lease_keeper.hpp"
#include "sweeps/queue/cell_requests.hpp"
#include "tests/core/config/sweep_files.hpp"
#include "tests/storage/synthetic_sweep.hpp"
#include "tests/storage/temporary_folder.hpp"
#include "tests/support/pretended_clock.hpp"

namespace depthgrid {
namespace missing_cells_test {

class MissingCellsOf : public ::testing::Test {
 protected:
  const CellId& id(std::size_t row) const { return sweep_.cells[row].id; }
  void fail(std::size_t row, const char* kind, CellStatus status = CellStatus::Failed) {
    const auto lease = leases_.try_acquire(store_.cell_dir(id(row)));
    ASSERT_TRUE(lease);
    store_.publish_failure(id(row), lease->generation(), status,
                           std::string(R"({"class": ")") + kind + R"(", "message": "x"})");
  }
  std::vector<CellNeed> needs() const { return missing_cells(sweep_, store_, {}, {}).needs; }

  TemporaryFolder scratch_;
  Sweep sweep_ = synthetic_sweep({1e-3, 2e-3, 3e-3, 4e-3}, 1);
  Store store_ = Store::open_or_create(scratch_.path() / "store");
  LeaseKeeper leases_;
};

using enum CellNeed;
using Needs = std::vector<CellNeed>;

TEST_F(MissingCellsOf, WhatFailsAgainWaitsForRetryAndWhatTheMachineDidDoesNot) {
  fail(0, "oom", CellStatus::Oom);
  fail(1, "crash");
  fail(2, "infrastructure");
  EXPECT_EQ(needs(), (Needs{Failed, Failed, Wanted, Wanted}));
  EXPECT_EQ(retry_cell(store_, id(1), leases_), RetryOutcome::Pending);
  EXPECT_EQ(needs(), (Needs{Failed, Wanted, Wanted, Wanted}));
  fail(1, "hang");
  EXPECT_EQ(needs(), (Needs{Failed, Failed, Wanted, Wanted})) << "it has failed once more";
}

TEST_F(MissingCellsOf, EachReasonIsCounted) {
  finish_cell(store_, stored_plan(sweep_), 0, 5);
  cancel_cell(store_, id(1), leases_);
  const MissingCells missing = missing_cells(sweep_, store_, {id(0), id(2)}, {id(3)});
  EXPECT_EQ(missing.needs, (Needs{Done, Cancelled, Queued, Held}));
  EXPECT_EQ(missing.count(Queued), 1);
  EXPECT_EQ(missing.wanted(), std::vector<bool>(4, false));
}

TEST_F(MissingCellsOf, ACellWaitsForASourceThatIsNeitherDoneNorWanted) {
  const SweepFiles files;
  sweep_ = files.load(kPhases);  // a, b from a, c; two seeds each
  const auto row = [&](const char* alias) {
    return static_cast<std::size_t>(&cell_named(sweep_, alias) - sweep_.cells.data());
  };
  EXPECT_EQ(missing_cells(sweep_, store_, {}, {}).count(Wanted), 6);
  const MissingCells missing = missing_cells(sweep_, store_, {id(row("a,s0"))}, {});
  EXPECT_EQ(missing.needs[row("b,s0")], Waits);
  EXPECT_EQ(missing.needs[row("b,s1")], Wanted);
  finish_cell(store_, stored_plan(sweep_), row("a,s0"), 5);
  EXPECT_EQ(missing_cells(sweep_, store_, {}, {}).needs[row("b,s0")], Wanted);
}

TEST_F(MissingCellsOf, OnlyABeatingHeartIsARunAtWork) {
  const auto held = leases_.try_acquire(store_.cell_dir(id(0)));
  auto left = std::make_unique<LeaseKeeper>();  // as of another machine: claimed, then silent
  {
    auto lease = left->try_acquire(store_.cell_dir(id(1)));
    left.reset();  // nobody keeps it alive any more
    const PretendedClock clock([this] { leases_.beat_all(); });
    EXPECT_EQ(cells_at_work(store_, {id(0), id(1), id(2)}, std::chrono::seconds(90), clock),
              std::set<CellId>{id(0)});
    EXPECT_NEAR(clock.now(), 30, 0.2) << "a third of a lease: one of them may beat yet";
  }
  const PretendedClock clock;
  EXPECT_TRUE(cells_at_work(store_, {id(2)}, std::chrono::hours(1), clock).empty());
  EXPECT_EQ(clock.waits(), 0) << "nothing to watch";
}

TEST_F(MissingCellsOf, AWatchEndsWhenAllHaveBeenSeenToBeat) {
  const auto held = leases_.try_acquire(store_.cell_dir(id(0)));
  HeartbeatWatch watch(store_, {id(0)}, 30);
  leases_.beat_all();
  EXPECT_FALSE(watch.tick(1));
  EXPECT_EQ(watch.at_work(), std::set<CellId>{id(0)});
}

}  // namespace missing_cells_test
}  // namespace depthgrid
