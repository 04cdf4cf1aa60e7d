// The queue on a temporary store, without a worker: nothing here trains.
#include "sweeps/queue/job_queue.hpp"

#include <set>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "storage/files/lease.hpp"
#include "storage/files/publish.hpp"
#include "storage/files/sealed_file.hpp"
#include "storage/hdf5/checkpoint.hpp"
#include "sweeps/queue/checkpoint_policy.hpp"
#include "tests/core/config/sweep_files.hpp"
#include "tests/storage/synthetic_sweep.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace job_queue_test {

using State = JobQueue::State;
using Rows = std::vector<std::size_t>;

constexpr std::int64_t kParameters = 3;

FusedJob job_of(Rows rows, std::int64_t depth = 0) {
  FusedJob job;
  job.cells = std::move(rows);
  job.depth = depth;
  return job;
}

class Queue : public ::testing::Test {
 protected:
  JobQueue queue(std::vector<FusedJob> jobs, LeaseKeeper& leases, std::int64_t crash_budget = 0) {
    return {sweep_,      store_, leases, std::move(jobs), [](const CellConfig&) { return 3; },
            crash_budget};
  }

  std::filesystem::path folder(std::size_t row) const {
    return store_.cell_dir(sweep_.cells[row].id);
  }

  /// A checkpoint of the first generation, and the records up to it.
  void checkpoint(std::size_t row, std::int64_t step, std::size_t parameters = kParameters) const {
    const std::vector<float> numbers(parameters, 1.0F);
    CheckpointData data;
    data.step = step;
    data.config_digest = config_digest(sweep_.cells[row].config);
    for (const char* name : {"parameters", "first", "second"}) {
      data.tensors.push_back({name, {static_cast<std::int64_t>(parameters)}, numbers});
    }
    publish_checkpoint(folder(row), 1, data);
    const auto journal = folder(row) / generation_name("journal", 1);
    if (std::filesystem::exists(journal)) return;
    write_attempt(folder(row), static_cast<std::int64_t>(row), 1, 0, step, false);
  }

  void complete(std::size_t row, CellStatus status = CellStatus::Completed) const {
    finish_cell(store_, plan_, row, 5, status);
  }

  TemporaryFolder scratch_;
  Sweep sweep_ = synthetic_sweep({1e-3, 2e-3}, 2);
  Store store_ = Store::open_or_create(scratch_.path() / "store");
  StoredPlan plan_ = stored_plan(sweep_);
};

TEST_F(Queue, GivesJobAfterJobUntilEveryCellIsDone) {
  LeaseKeeper leases;
  JobQueue jobs = queue({job_of({0, 1}), job_of({2, 3})}, leases);
  std::optional<Claim> claim;

  ASSERT_EQ(jobs.next(claim), State::Claimed);
  EXPECT_EQ(claim->job.rows, (Rows{0, 1}));
  EXPECT_EQ(claim->job.first_step, 0);
  EXPECT_EQ(claim->job.id, job_id({sweep_.cells[0].id, sweep_.cells[1].id}));
  EXPECT_EQ(claim->cells.size(), 2U);
  EXPECT_TRUE(claim->cells[0].lease.valid());
  complete(0);
  complete(1);
  ASSERT_EQ(jobs.next(claim), State::Claimed);
  EXPECT_EQ(claim->job.rows, (Rows{2, 3}));
  complete(2);
  complete(3);
  EXPECT_EQ(jobs.next(claim), State::Finished);
}

TEST_F(Queue, NeverGivesACellTwice) {
  LeaseKeeper here, there;
  JobQueue first = queue({job_of({0, 1}), job_of({2, 3})}, here);
  JobQueue second = queue({job_of({0, 1}), job_of({2, 3})}, there);
  std::vector<Claim> held;
  std::multiset<std::size_t> rows;
  for (JobQueue* jobs : {&first, &second, &first, &second}) {
    std::optional<Claim> claim;
    if (jobs->next(claim) != State::Claimed) continue;
    rows.insert(claim->job.rows.begin(), claim->job.rows.end());
    held.push_back(std::move(*claim));
  }
  EXPECT_EQ(rows, (std::multiset<std::size_t>{0, 1, 2, 3}));
  std::optional<Claim> claim;
  EXPECT_EQ(first.next(claim), State::Waiting);  // their owners may die

  held.clear();  // and give the cells back
  EXPECT_EQ(first.next(claim), State::Claimed);
}

TEST_F(Queue, DoesNotGiveACellThatWasFinishedBetweenTheLookAndTheClaim) {
  bool finishes = false;
  LeaseKeeper leases({.now = [&] {  // asked while a lease is taken
    if (std::exchange(finishes, false)) complete(0);
    return std::chrono::steady_clock::now();
  }});
  JobQueue jobs = queue({job_of({0})}, leases);
  finishes = true;
  std::optional<Claim> claim;
  EXPECT_NE(jobs.next(claim), State::Claimed);
  EXPECT_FALSE(finishes) << "it was finished while the lease was taken";
  EXPECT_EQ(jobs.next(claim), State::Finished);
}

TEST_F(Queue, TakesOverFromAnOwnerWhoseHeartStoodStill) {
  ProcessIdentity other = this_process();
  other.host = "elsewhere";
  other.boot_id = "another-boot";
  publish_once(folder(0) / "gen-000001", to_json(other));
  publish_once(folder(0) / "hb-000001", "0000000000000000007 beats\n");
  LeaseKeeper leases({.ttl = std::chrono::milliseconds(30)});
  JobQueue jobs = queue({job_of({0})}, leases);
  std::optional<Claim> claim;

  EXPECT_EQ(jobs.next(claim), State::Waiting);
  for (int i = 0; i < 1000 && jobs.next(claim) == State::Waiting; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  ASSERT_TRUE(claim.has_value());
  EXPECT_EQ(claim->cells[0].lease.generation(), 2);
}

/// Sixty-four cells, of which another machine trained the first `E` of each job and then fell
/// silent. Time passes only where the test says so.
class LostNode : public Queue {
 protected:
  LostNode() {
    sweep_ = synthetic_sweep({1e-3, 2e-3}, 32);
    store_ = Store::open_or_create(scratch_.path() / "many");
    plan_ = stored_plan(sweep_);
  }

  static Rows range(std::size_t from, std::size_t to) {
    Rows out;
    for (; from < to; ++from) out.push_back(from);
    return out;
  }

  /// A claim of a process on another machine; it beat `beats` times.
  void claim_from_afar(const Rows& rows, int beats = 7) const {
    ProcessIdentity other = this_process();
    other.host = "elsewhere";
    other.boot_id = "another-boot";
    for (const std::size_t row : rows) {
      publish_replace(folder(row) / "gen-000001", to_json(other));
      publish_replace(folder(row) / "hb-000001", fmt::format("{:019} beats\n", beats));
    }
  }

  /// Asks again and again for at most this time on the observer's clock.
  State ask(JobQueue& jobs, std::optional<Claim>& claim, std::chrono::seconds patience) {
    constexpr std::chrono::seconds kPause(200);
    State state = State::Waiting;
    for (; patience.count() > 0 && state == State::Waiting; patience -= kPause) {
      state = jobs.next(claim);
      clock_ += kPause;
    }
    return state;
  }

  std::chrono::steady_clock::time_point clock_ = std::chrono::steady_clock::now();
  LeaseKeeper here_{{.ttl = std::chrono::hours(1), .now = [this] { return clock_; }}};
};

TEST_F(LostNode, ItsFusedJobIsTakenOverAsOne) {
  claim_from_afar(range(0, 64));
  JobQueue jobs = queue({job_of(range(0, 64))}, here_);
  std::optional<Claim> claim;

  ASSERT_EQ(ask(jobs, claim, std::chrono::hours(2)), State::Claimed);
  EXPECT_EQ(claim->job.rows, range(0, 64));
  EXPECT_EQ(claim->cells.back().lease.generation(), 2);
}

TEST_F(LostNode, ItsFusedJobsAreTakenOverAsTheyWere) {
  claim_from_afar(range(0, 64));
  JobQueue jobs = queue({job_of(range(0, 40)), job_of(range(40, 64))}, here_);
  std::optional<Claim> first, second;

  ASSERT_EQ(ask(jobs, first, std::chrono::hours(2)), State::Claimed);
  ASSERT_EQ(ask(jobs, second, std::chrono::hours(2)), State::Claimed);
  EXPECT_EQ(first->job.rows, range(0, 40));
  EXPECT_EQ(second->job.rows, range(40, 64));
}

TEST_F(LostNode, ItsCellsGoOnTogetherAlthoughItDiedBetweenTheirHeartbeats) {
  claim_from_afar(range(0, 64));
  JobQueue jobs = queue({job_of(range(0, 64))}, here_);
  std::optional<Claim> claim;
  ASSERT_EQ(ask(jobs, claim, std::chrono::seconds(400)), State::Waiting);
  claim_from_afar(range(0, 32), 8);  // the others never get theirs

  ASSERT_EQ(ask(jobs, claim, std::chrono::hours(2)), State::Claimed);
  EXPECT_EQ(claim->job.rows, range(0, 64));
}

TEST_F(LostNode, OfAPartlyHeldJobTheFreeCellsAreTakenOnceNobodyElseTakesThem) {
  claim_from_afar({0, 5});
  JobQueue jobs = queue({job_of(range(0, 8)), job_of(range(8, 16))}, here_);
  std::optional<Claim> whole, rest, claim;

  ASSERT_EQ(jobs.next(whole), State::Claimed);
  EXPECT_EQ(whole->job.rows, range(8, 16)) << "whole jobs come first";
  ASSERT_EQ(jobs.next(rest), State::Waiting) << "its owner may just be claiming it";
  ASSERT_EQ(ask(jobs, rest, std::chrono::minutes(30)), State::Claimed);
  EXPECT_EQ(rest->job.rows, (Rows{1, 2, 3, 4, 6, 7}));
  EXPECT_EQ(jobs.next(claim), State::Waiting);  // 0 and 5 are alive
}

TEST_F(LostNode, WaitingOnGivesItsCellsWhichThoseOfLivingOwnersNeverDo) {
  claim_from_afar({0, 1});
  JobQueue jobs = queue({job_of({0, 1})}, here_);
  std::optional<Claim> claim;
  ASSERT_EQ(jobs.next(claim), State::Waiting);
  EXPECT_FALSE(jobs.may_inherit()) << "nobody knows yet";
  for (int beats = 8; beats < 20; ++beats) {
    clock_ += std::chrono::seconds(400);  // as often as an owner beats
    claim_from_afar({0, 1}, beats);
    ASSERT_EQ(jobs.next(claim), State::Waiting);
    EXPECT_FALSE(jobs.may_inherit()) << "its owner lives";
  }
  ASSERT_EQ(ask(jobs, claim, std::chrono::minutes(20)), State::Waiting);
  EXPECT_TRUE(jobs.may_inherit()) << "a third of the lease without a heartbeat";
  EXPECT_EQ(ask(jobs, claim, std::chrono::hours(2)), State::Claimed);
  EXPECT_FALSE(jobs.may_inherit());
}

TEST_F(LostNode, AJobThatAnotherProcessIsClaimingIsLeftToIt) {
  JobQueue jobs = queue({job_of(range(0, 8))}, here_);
  std::optional<Claim> claim;
  for (std::size_t row = 0; row < 8; ++row) {  // the other one needs minutes for each cell
    claim_from_afar({row}, static_cast<int>(row));
    ASSERT_EQ(ask(jobs, claim, std::chrono::minutes(3)), State::Waiting) << row;
  }
}

TEST_F(Queue, CellsThatGoOnFromOtherStepsComeOneGroupAfterAnother) {
  checkpoint(1, 10);
  LeaseKeeper leases;
  JobQueue jobs = queue({job_of({0, 1, 2})}, leases);
  std::optional<Claim> first, second;

  ASSERT_EQ(jobs.next(first), State::Claimed);
  ASSERT_EQ(jobs.next(second), State::Claimed);
  EXPECT_EQ(first->job.rows, (Rows{0, 2}));
  EXPECT_EQ(second->job.rows, (Rows{1}));
  EXPECT_EQ(second->job.first_step, 10);
  ASSERT_TRUE(second->cells[0].state.has_value());
  EXPECT_EQ(second->cells[0].state->step, 10);
}

TEST_F(Queue, PassesOverACheckpointOfAnotherNumberOfParameters) {
  checkpoint(0, 10, kParameters + 1);
  LeaseKeeper leases;
  JobQueue jobs = queue({job_of({0})}, leases);
  std::optional<Claim> claim;

  ASSERT_EQ(jobs.next(claim), State::Claimed);
  EXPECT_FALSE(claim->cells[0].state.has_value());
  EXPECT_EQ(claim->cells[0].rejected,
            std::vector<std::string>{"the newest checkpoint holds another number of parameters"});
}

TEST_F(Queue, GivesUpACellThatCrashesTooOftenButNotOneThatWasKilled) {
  const ProcessIdentity owner = this_process();
  for (std::int64_t generation = 1; generation <= 3; ++generation) {
    write_attempt(folder(0), 0, generation, 0, 5, false);
    publish_once(folder(0) / generation_name("gen", generation), to_json(owner));
  }
  publish_once(folder(0) / "hb-000003", "0000000000000000007 ended\n");
  LeaseKeeper leases;
  std::optional<Claim> claim;
  {
    JobQueue jobs = queue({job_of({0})}, leases, 1);
    EXPECT_EQ(jobs.next(claim), State::Claimed);  // nothing says that it crashed
    claim.reset();
  }
  make_folders(store_.log_dir());
  publish_once(store_.crash_mark(owner), "");
  JobQueue jobs = queue({job_of({0})}, leases, 1);
  EXPECT_NE(jobs.next(claim), State::Claimed);
  EXPECT_EQ(jobs.failed(), 1);
  const auto failure = store_.newest_failure(sweep_.cells[0].id);
  ASSERT_TRUE(failure.has_value());
  EXPECT_EQ(failure->generation, 5);
  EXPECT_NE(failure->json.find("crashed 3 times"), std::string::npos) << failure->json;
  EXPECT_EQ(jobs.next(claim), State::Finished);
}

TEST_F(Queue, WhatIsNoResultIsQuarantinedAndTheCellTrainsAgain) {
  LeaseKeeper leases;
  complete(1);
  const auto result = folder(0) / "result.h5";
  std::filesystem::create_directory(result);
  JobQueue jobs = queue({job_of({0}), job_of({1})}, leases);
  std::optional<Claim> claim;

  ASSERT_EQ(jobs.next(claim), State::Claimed);
  EXPECT_EQ(claim->job.rows, Rows{0});
  ASSERT_EQ(claim->cells[0].damages.size(), 1U);
  EXPECT_NE(claim->cells[0].damages[0].find("result.h5.damaged-1"), std::string::npos);
  EXPECT_TRUE(std::filesystem::is_directory(result.string() + ".damaged-1"));
  complete(0);
  claim.reset();
  EXPECT_EQ(jobs.next(claim), State::Finished);

  overwrite(result, read_file(folder(1) / "result.h5"));  // sealed, but another cell's
  ASSERT_EQ(jobs.next(claim), State::Claimed);
  EXPECT_TRUE(std::filesystem::exists(result.string() + ".damaged-2"));
}

TEST_F(Queue, AttemptsThatReachTheirEndWithoutAResultCountAsDeaths) {
  for (std::int64_t generation = 1; generation <= 3; ++generation) {
    write_attempt(folder(0), 0, generation, 0, 5, true);
  }
  LeaseKeeper leases;
  JobQueue jobs = queue({job_of({0})}, leases, 1);
  std::optional<Claim> claim;

  EXPECT_NE(jobs.next(claim), State::Claimed);
  EXPECT_EQ(jobs.failed(), 1);
  EXPECT_EQ(jobs.next(claim), State::Finished);
}

TEST_F(Queue, ALostClaimDoesNotGiveItsNamesToTheNextOwner) {
  write_attempt(folder(0), 0, 3, 0, 5, false);  // its gen-000003 is gone
  LeaseKeeper leases;
  JobQueue jobs = queue({job_of({0})}, leases, 5);
  std::optional<Claim> claim;

  ASSERT_EQ(jobs.next(claim), State::Claimed);
  EXPECT_EQ(claim->cells[0].lease.generation(), 4);
}

TEST_F(Queue, HalvesOfAJobComeNext) {
  LeaseKeeper leases;
  JobQueue jobs = queue({job_of({0, 1, 2}), job_of({3})}, leases);
  std::optional<Claim> claim;
  ASSERT_EQ(jobs.next(claim), State::Claimed);
  const Rows rows = claim->job.rows;
  claim.reset();

  jobs.split(rows);

  ASSERT_EQ(jobs.next(claim), State::Claimed);
  EXPECT_EQ(claim->job.rows, (Rows{0}));
  std::optional<Claim> second;
  ASSERT_EQ(jobs.next(second), State::Claimed);
  EXPECT_EQ(second->job.rows, (Rows{1, 2}));
}

TEST_F(Queue, CellsThatAreGivenUpDoNotComeAgain) {
  LeaseKeeper leases;
  JobQueue jobs = queue({job_of({0}), job_of({1})}, leases);
  jobs.give_up({0, 0});
  std::optional<Claim> claim;

  ASSERT_EQ(jobs.next(claim), State::Claimed);
  EXPECT_EQ(claim->job.rows, (Rows{1}));
  EXPECT_EQ(jobs.failed(), 1);
}

class ChainedQueue : public Queue {
 protected:
  ChainedQueue() {
    sweep_ = files_.load(R"(data: {corpus: synthetic:markov, seq_len: 9}
model: {d_model: 16, n_layers: 2, n_heads: 2, max_seq_len: 9}
method: list
include:
  - {tag: a}
  - {tag: b, train.lr: 1e-3, model.init.from: arm:a}
)");
    plan_ = stored_plan(sweep_);
  }
  std::size_t row(const char* alias) const {
    return static_cast<std::size_t>(cell_named(sweep_, alias).row);
  }
  SweepFiles files_;
};

TEST_F(ChainedQueue, AJobWaitsForTheCellsThatItStartsFrom) {
  LeaseKeeper leases;
  const std::size_t a = row("a,s0"), b = row("b,s0");
  JobQueue jobs = queue({job_of({b}, 1), job_of({a})}, leases);
  std::optional<Claim> source, claim;

  ASSERT_EQ(jobs.next(source), State::Claimed);
  EXPECT_EQ(source->job.rows, Rows{a});
  EXPECT_EQ(jobs.next(claim), State::Waiting);
  complete(a);
  checkpoint(a, 5);
  ASSERT_EQ(jobs.next(claim), State::Claimed);
  EXPECT_EQ(claim->job.rows, Rows{b});
}

TEST_F(ChainedQueue, CellsWhoseSourceHasDivergedFailWithTheReason) {
  LeaseKeeper leases;
  const std::size_t a = row("a,s0"), b = row("b,s0");
  JobQueue jobs = queue({job_of({b}, 1), job_of({a})}, leases);
  complete(a, CellStatus::Diverged);
  std::optional<Claim> claim;

  EXPECT_EQ(jobs.next(claim), State::Finished);
  EXPECT_EQ(jobs.failed(), 1);
  const auto failure = store_.newest_failure(sweep_.cells[b].id);
  ASSERT_TRUE(failure.has_value());
  EXPECT_NE(failure->json.find("which has diverged"), std::string::npos) << failure->json;
}

/// Attempts that died at these steps, generations from 1.
CellHistory died_at(const std::vector<std::int64_t>& steps) {
  CellHistory history;
  for (const std::int64_t step : steps) {
    AttemptRecord attempt;
    attempt.generation = static_cast<std::int64_t>(history.attempts.size()) + 1;
    attempt.last_step = step;
    history.attempts.push_back(attempt);
  }
  return history;
}

TEST(CrashBudget, CountsCrashesThatGotNoFurther) {
  const std::set<std::int64_t> all = {1, 2, 3, 4};
  EXPECT_EQ(died_too_often(died_at({5, 5, 5}), all, 0, 2), std::nullopt);
  EXPECT_EQ(died_too_often(died_at({5, 5, 3, 5}), all, 0, 2),
            "crashed 4 times without getting beyond step 5 (retry.crash = 2)");
  EXPECT_EQ(died_too_often(died_at({5, 5, 6, 6}), all, 0, 1), std::nullopt);  // it has moved on
}

TEST(CrashBudget, DoesNotCountKillsFromOutside) {
  const std::vector<std::int64_t> steps(9, 5);
  EXPECT_EQ(died_too_often(died_at(steps), {}, 0, 0), std::nullopt);
  EXPECT_EQ(died_too_often(died_at(steps), {1, 4}, 0, 1), std::nullopt);
  EXPECT_NE(died_too_often(died_at(steps), {1, 4, 7}, 0, 1), std::nullopt);
}

TEST(CrashBudget, ForgetsAttemptsThatWereReportedOrHaveEnded) {
  EXPECT_EQ(died_too_often(died_at({5, 5, 5, 5}), {1, 2, 3, 4}, 3, 0), std::nullopt);
  CellHistory stopped = died_at({5, 5, 5});
  stopped.attempts.back().end = AttemptEnd{.outcome = AttemptOutcome::Preempted};
  EXPECT_EQ(died_too_often(stopped, {1, 2}, 0, 0), std::nullopt);
  stopped.attempts.back().end = AttemptEnd{.outcome = AttemptOutcome::Done};  // without a result
  EXPECT_NE(died_too_often(stopped, {1, 2}, 0, 0), std::nullopt);
}

}  // namespace job_queue_test
}  // namespace depthgrid
