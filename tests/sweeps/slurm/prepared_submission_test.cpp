#include "sweeps/slurm/prepared_submission.hpp"

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "sweeps/slurm/slurm_text.hpp"
#include "tests/storage/synthetic_sweep.hpp"
#include "tests/storage/temporary_folder.hpp"
#include "tests/support/pretended_clock.hpp"
#include "tests/support/pretended_processes.hpp"
#include "tests/sweeps/slurm/pretended_scheduler.hpp"

namespace depthgrid {
namespace prepared_submission_test {

using Words = std::vector<std::string>;

using Pretended = depthgrid::testing::PretendedScheduler;

class PreparedSubmissionTest : public ::testing::Test {
 protected:
  PreparedSubmission two_arrays() const {
    const auto group = [](const char* cell) {
      return TaskGroup{.ranks = 1, .canary = false, .request = {}, .tasks = {{cell}}};
    };
    return prepare_submission(sweep_, store_.root(), {group("c1"), group("c2")}, 100, {});
  }
  const TemporaryFolder scratch_;
  const Sweep sweep_ = synthetic_sweep({1e-3}, 1);
  const Store store_ = Store::open_or_create(scratch_.path() / "store");
};

TEST_F(PreparedSubmissionTest, EachIdIsKept) {
  Pretended slurm;
  PreparedSubmission prepared = two_arrays();
  submit_prepared(prepared, store_, slurm);
  const auto kept = submissions(store_.root());
  ASSERT_EQ(kept.size(), 1U);
  ASSERT_EQ(kept[0].arrays.size(), 2U);
  EXPECT_EQ(kept[0].arrays[1].job, "2");
}

TEST_F(PreparedSubmissionTest, ItsIdIsOfItsProcessAndItsTimeOfItsClock) {
  const PretendedProcesses processes([](const auto&) { return CommandAnswer{}; });
  const PretendedClock clock;
  const PreparedSubmission prepared =
      prepare_submission(sweep_, store_.root(), {}, 100, {}, clock, processes);
  EXPECT_EQ(prepared.submission.id, "01234567-89a");
  EXPECT_EQ(prepared.submission.time, "2026-03-01T12:00:00Z");
}

TEST_F(PreparedSubmissionTest, ArraysHaveTheLimitOfParallelTasksTogether) {
  const auto prepared = [&](std::int64_t tasks, std::int64_t parallel) {
    TaskGroup group{.ranks = 1, .canary = false, .request = {}, .tasks = {}};
    group.request.parallel = parallel;
    for (std::int64_t i = 0; i < tasks; ++i) group.tasks.push_back({std::to_string(i)});
    return prepare_submission(sweep_, store_.root(), {group}, 10, {});
  };
  const auto shares = [](const PreparedSubmission& of) {
    std::vector<std::int64_t> out;
    for (const BatchArray& array : of.arrays) out.push_back(array.parallel);
    return out;
  };
  EXPECT_EQ(shares(prepared(30, 0)), std::vector<std::int64_t>(3, 0));
  EXPECT_EQ(shares(prepared(30, 11)), (std::vector<std::int64_t>{4, 4, 3}));
  PreparedSubmission many = prepared(100, 4);
  EXPECT_EQ(shares(many), std::vector<std::int64_t>(10, 1));
  Pretended slurm;
  submit_prepared(many, store_, slurm);
  for (std::size_t i = 0; i < 10; ++i) {
    const std::string expected = i < 4 ? "" : "afterany:" + std::to_string(i - 3);
    EXPECT_EQ(many.arrays[i].dependency, expected) << i;
  }
}

TEST_F(PreparedSubmissionTest, WhatWasSuspendedSubmitsNoMoreOnceAnotherHasTakenItsPlace) {
  PreparedSubmission prepared = two_arrays();
  // The other one has submitted both cells, of which the first was on its way here.
  Submission other = prepared.submission;
  other.id = "0c2d";
  for (std::size_t i = 0; i < 2; ++i) {
    other.arrays[i].comment = "depthgrid:0c2d:" + std::to_string(i);
  }
  keep_submission(store_.root(), other);
  Pretended slurm;
  slurm.tasks = queued_tasks("1_0|PENDING|" + prepared.submission.arrays[0].comment +
                             "|None\n8_0|PENDING|depthgrid:0c2d:0|None\n"
                             "9_0|PENDING|depthgrid:0c2d:1|None\n");
  EXPECT_THROW(submit_prepared(prepared, store_, slurm,
                               [&] { return slurm.arrays > 0; }),  // during the first sbatch
               UserError);
  EXPECT_EQ(slurm.arrays, 1);
  EXPECT_EQ(slurm.cancelled, Words{"1_0"});
  const auto kept = submission_of(store_.root(), prepared.submission.id);
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->arrays.size(), 1U) << "what sbatch never got is not recorded";
}

TEST_F(PreparedSubmissionTest, WhatWasSuspendedInTheLastCallWithdrawsWhatBothHaveSubmitted) {
  PreparedSubmission prepared = two_arrays();
  Submission other = prepared.submission;
  other.id = "0c2d";
  other.arrays.erase(other.arrays.begin());
  other.arrays[0].comment = "depthgrid:0c2d:0";
  keep_submission(store_.root(), other);
  Pretended slurm;
  slurm.tasks = queued_tasks("1_0|PENDING|" + prepared.submission.arrays[0].comment +
                             "|None\n2_0|PENDING|" + prepared.submission.arrays[1].comment +
                             "|None\n9_0|PENDING|depthgrid:0c2d:0|None\n");
  EXPECT_THROW(submit_prepared(prepared, store_, slurm, [&] { return slurm.arrays == 2; }),
               UserError);
  EXPECT_EQ(slurm.cancelled, Words{"2_0"}) << "nobody else has the first";
}

TEST_F(PreparedSubmissionTest, AfterALostAnswerTheQueueTellsWhatWasTaken) {
  const auto told = [&](const std::string& queue, const std::string& silent) {
    PreparedSubmission prepared = two_arrays();
    Pretended slurm;
    slurm.silent = silent;
    slurm.taking = [&](const std::string& script) {
      if (!script.ends_with("array-1.sbatch")) return;
      const std::string comment = prepared.submission.arrays[1].comment;
      if (!queue.empty()) slurm.tasks = queued_tasks(queue + "|PENDING|" + comment + "|None\n");
      throw UncertainSubmission(ExitCode::TempFail, "sbatch: no answer within 60 s");
    };
    try {
      submit_prepared(prepared, store_, slurm);
    } catch (const UserError& e) {
      EXPECT_EQ(e.code(), ExitCode::TempFail);
      const auto kept = submission_of(store_.root(), prepared.submission.id);
      return kept.value().arrays[1].job + ": " + e.what();
    }
    return std::string("no error");
  };
  const std::string taken = told("77_0", "");
  EXPECT_TRUE(taken.starts_with("77: sbatch: no answer within 60 s\n")) << taken;
  EXPECT_NE(taken.find("array-1.sbatch"), taken.npos) << taken;
  EXPECT_NE(taken.find("array 77; before it, array 1"), taken.npos) << taken;
  const std::string absent = told("", "");
  EXPECT_TRUE(absent.starts_with(": ")) << absent;
  EXPECT_NE(absent.find("shows no task of array-1.sbatch"), absent.npos) << absent;
  const std::string unknown = told("", "squeue: gone");
  EXPECT_NE(unknown.find("not known (squeue: gone)"), unknown.npos) << unknown;
}

}  // namespace prepared_submission_test
}  // namespace depthgrid
