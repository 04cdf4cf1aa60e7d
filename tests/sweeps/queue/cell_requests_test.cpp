#include "sweeps/queue/cell_requests.hpp"

#include <filesystem>

#include <gtest/gtest.h>

#include "storage/cells/cell_state.hpp"
#include "storage/files/lease.hpp"
#include "sweeps/queue/job_queue.hpp"
#include "sweeps/queue/stop_requests.hpp"
#include "tests/core/config/sweep_files.hpp"
#include "tests/storage/synthetic_sweep.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace cell_requests_test {

using State = JobQueue::State;

class CellRequests : public ::testing::Test {
 protected:
  const CellId& id(std::size_t row) const { return sweep_.cells[row].id; }
  CellStatus status(std::size_t row) const { return cell_outcome(store_, id(row)).state.status; }
  JobQueue queue(std::vector<std::size_t> rows) {
    FusedJob job;
    job.cells = std::move(rows);
    return {sweep_, store_, leases_, {job}, [](const CellConfig&) { return 3; }, 0};
  }

  TemporaryFolder scratch_;
  Sweep sweep_ = synthetic_sweep({1e-3, 2e-3}, 1);
  Store store_ = Store::open_or_create(scratch_.path() / "store");
  StoredPlan plan_ = stored_plan(sweep_);
  LeaseKeeper leases_, others_;
};

TEST_F(CellRequests, ACancelledCellIsLeftAloneUntilSomebodyRetriesIt) {
  EXPECT_EQ(cancel_cell(store_, id(0), leases_), CancelOutcome::Cancelled);
  EXPECT_TRUE(is_cancelled(store_, id(0)));
  EXPECT_EQ(status(0), CellStatus::Cancelled);
  EXPECT_EQ(failure_class(store_, id(0)), "cancelled");
  EXPECT_EQ(cancel_cell(store_, id(0), leases_), CancelOutcome::Ended);
  std::optional<Claim> claim;
  JobQueue jobs = queue({0, 1});
  ASSERT_EQ(jobs.next(claim), State::Claimed);
  EXPECT_EQ(claim->job.rows, std::vector<std::size_t>{1});  // its neighbour trains alone
  finish_cell(store_, plan_, 1, 5);
  claim.reset();
  EXPECT_EQ(jobs.next(claim), State::Finished);
  EXPECT_EQ(queue({0}).next(claim), State::Finished);

  EXPECT_EQ(retry_cell(store_, id(0), leases_), RetryOutcome::Pending);
  EXPECT_EQ(status(0), CellStatus::Pending);
  EXPECT_EQ(retry_cell(store_, id(0), leases_), RetryOutcome::NotFailed);
  ASSERT_EQ(jobs.next(claim), State::Claimed);  // even by the run that saw it cancelled
  EXPECT_EQ(claim->job.rows, std::vector<std::size_t>{0});
}

TEST_F(CellRequests, ACellThatIsHeldIsAskedAndItsOwnerHearsOfIt) {
  StopRequests requests(store_, {id(1), id(0)});
  EXPECT_TRUE(requests.poll().empty());
  std::optional<Claim> claim;
  JobQueue jobs = queue({0});
  ASSERT_EQ(jobs.next(claim), State::Claimed);

  EXPECT_EQ(cancel_cell(store_, id(0), others_), CancelOutcome::Asked);
  EXPECT_EQ(status(0), CellStatus::Running);
  EXPECT_EQ(requests.poll(), std::vector<std::size_t>{1});
  publish_cancelled(store_, id(0), claim->cells[0].lease.generation());
  claim.reset();

  EXPECT_TRUE(requests.poll().empty());
  EXPECT_FALSE(cell_stop_requested(store_, id(0)));
  EXPECT_EQ(status(0), CellStatus::Cancelled);
  EXPECT_EQ(jobs.next(claim), State::Finished);
}

TEST_F(CellRequests, ARequestThatItsOwnerHasNotSeenHoldsForTheNextOne) {
  auto lease = others_.try_acquire(store_.cell_dir(id(0)));
  ASSERT_EQ(cancel_cell(store_, id(0), leases_), CancelOutcome::Asked);
  lease->release();
  EXPECT_EQ(status(0), CellStatus::Pending);
  std::optional<Claim> claim;
  JobQueue jobs = queue({0});
  EXPECT_EQ(jobs.next(claim), State::Waiting);  // it has just learnt that nothing is left
  EXPECT_EQ(jobs.next(claim), State::Finished);
  EXPECT_EQ(status(0), CellStatus::Cancelled);
  EXPECT_FALSE(cell_stop_requested(store_, id(0)));
}

TEST_F(CellRequests, AClaimOfACancelledCellCarriesTheReportOn) {
  // A queue that looked just before the cell was cancelled, and claims it just after.
  cancel_cell(store_, id(0), others_);
  const auto lease = leases_.try_acquire(store_.cell_dir(id(0)));
  EXPECT_TRUE(is_cancelled(store_, id(0), lease->generation()));
  EXPECT_FALSE(is_cancelled(store_, id(0)));  // the claim of somebody else would be a retry
}

TEST_F(CellRequests, WhatHasAResultIsNeitherCancelledNorTriedAgain) {
  finish_cell(store_, plan_, 0, 5);
  EXPECT_EQ(cancel_cell(store_, id(0), leases_), CancelOutcome::Ended);
  EXPECT_EQ(retry_cell(store_, id(0), leases_), RetryOutcome::NotFailed);
  EXPECT_TRUE(store_.completed(id(0)));
  EXPECT_FALSE(is_cancelled(store_, id(0)));
}

TEST_F(CellRequests, AFailedCellIsPendingAfterRetryAndOneThatIsHeldIsNotTouched) {
  {
    const auto lease = leases_.try_acquire(store_.cell_dir(id(0)));
    store_.publish_failure(id(0), lease->generation(), CellStatus::Oom, R"({"class": "oom"})");
    EXPECT_EQ(retry_cell(store_, id(0), others_), RetryOutcome::InUse);
  }
  EXPECT_EQ(status(0), CellStatus::Oom);
  EXPECT_EQ(failure_class(store_, id(0)), "oom");
  EXPECT_EQ(retry_cell(store_, id(0), others_), RetryOutcome::Pending);
  EXPECT_EQ(status(0), CellStatus::Pending);
  EXPECT_EQ(failure_class(store_, id(0)), "oom");  // logs go on showing it
}

TEST(RequestsAboutSources, CellsThatStartFromACancelledOneFailInsteadOfWaiting) {
  const SweepFiles files;
  const Sweep sweep = files.load(kPhases);
  const TemporaryFolder folder;
  const Store store = Store::open_or_create(folder.path() / "s");
  LeaseKeeper leases;
  cancel_cell(store, cell_named(sweep, "a,s0").id, leases);
  const std::size_t dependent = static_cast<std::size_t>(cell_named(sweep, "b,s0").row);
  std::vector<std::int64_t> failed_before(sweep.cells.size(), 9);
  StartPermit permit(sweep, store, failed_before);
  std::string why;
  EXPECT_EQ(permit.ask(dependent, why), StartPermit::Answer::Never);
  EXPECT_NE(why.find("cancelled"), std::string::npos);

  retry_cell(store, cell_named(sweep, "a,s0").id, leases);
  EXPECT_EQ(permit.ask(dependent, why), StartPermit::Answer::Wait);
}

}  // namespace cell_requests_test
}  // namespace depthgrid
