#include "worker/run/job_retry.hpp"

#include <gtest/gtest.h>

#include "tests/worker/session/small_run.hpp"

namespace depthgrid::testing {
namespace job_retry_test {

using Rows = std::vector<std::size_t>;

/// A queue with one job of both cells, and what handles its failures.
class JobRetryTest : public ::testing::Test {
 protected:
  FusedJob both() const {
    FusedJob job;
    job.cells = {0, 1};
    return job;
  }
  Rows next() {
    std::optional<Claim> claim;
    if (queue_.next(claim) != JobQueue::State::Claimed) return {};
    return claim->job.rows;  // the leases are released here
  }

  SmallRun small_;
  JobQueue queue_{small_.sweep, small_.store, small_.leases, {both()}, SmallRun::parameters, 3};
  JobRetry retry_{small_.run, small_.command, small_.leases, queue_};
};

TEST_F(JobRetryTest, AJobThatDoesNotFitComesBackInHalves) {
  EXPECT_FALSE(retry_.out_of_memory({"job", {0, 1}}, {1, 1}, 1e9));
  EXPECT_EQ(next(), Rows{0});
  EXPECT_EQ(queue_.failed(), 0);
}

TEST_F(JobRetryTest, AFailureIsReportedInTheStoreAndNotTriedAgain) {
  retry_.fail({"job", {1}}, {1}, CellStatus::Failed, "error", "the reason");

  const auto failure = small_.store.newest_failure(small_.sweep.cells[1].id);
  ASSERT_TRUE(failure.has_value());
  EXPECT_EQ(failure->generation, 1);
  EXPECT_EQ(failure->status, CellStatus::Failed);
  EXPECT_NE(failure->json.find("the reason"), std::string::npos);
  EXPECT_EQ(queue_.failed(), 1);
  EXPECT_EQ(next(), Rows{0});
}

TEST_F(JobRetryTest, AnErrorIsTriedAgainAsOftenAsTheLeafSays) {
  EXPECT_FALSE(retry_.again({"job", {0}})) << "retry.error is 0";
}

TEST_F(JobRetryTest, ACellThatIsDoneHasNotFailed) {
  Claim claim = small_.claim({1});
  ASSERT_EQ(JobSession(small_.run, claim.job, claim.cells).run(), SessionEnd::Done);

  retry_.fail({"job", {1}}, {1}, CellStatus::Failed, "error", "too late");

  EXPECT_FALSE(small_.store.newest_failure(small_.sweep.cells[1].id).has_value());
  EXPECT_EQ(queue_.failed(), 0);
}

TEST_F(JobRetryTest, AProcessForOneCellLeavesTheDecisionToTheOneThatWaitsForIt) {
  small_.command.mode = RunMode::Apart;
  small_.command.cells = {small_.sweep.cells[0].id};

  EXPECT_FALSE(retry_.out_of_memory({"job", {0}}, {1}, 1e9));

  EXPECT_EQ(retry_.code(), ExitCode::OutOfMemory);
  EXPECT_FALSE(small_.store.newest_failure(small_.sweep.cells[0].id).has_value());
}

}  // namespace job_retry_test
}  // namespace depthgrid::testing
