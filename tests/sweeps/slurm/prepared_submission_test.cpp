#include "sweeps/slurm/prepared_submission.hpp"

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "tests/storage/synthetic_sweep.hpp"
#include "tests/storage/temporary_folder.hpp"
#include "tests/support/pretended_clock.hpp"
#include "tests/support/pretended_processes.hpp"

namespace depthgrid {
namespace prepared_submission_test {

using Words = std::vector<std::string>;

/// A Slurm that numbers arrays from 1 and shows a queue.
struct Pretended {
  std::string queue;
  std::int64_t arrays = 0;
  Words cancelled{};

  SlurmClient client() {
    return SlurmClient([this](const Words& command, double) {
      CommandAnswer answer;
      if (command[0] == "sbatch") answer.out = std::to_string(++arrays) + "\n";
      if (command[0] == "squeue") answer.out = queue;
      if (command[0] == "scancel") cancelled.assign(command.begin() + 1, command.end());
      return answer;
    });
  }
};

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
  submit_prepared(prepared, store_, slurm.client());
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
  submit_prepared(many, store_, slurm.client());
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
  Pretended slurm{.queue = "1_0|PENDING|" + prepared.submission.arrays[0].comment +
                           "|None\n8_0|PENDING|depthgrid:0c2d:0|None\n"
                           "9_0|PENDING|depthgrid:0c2d:1|None\n"};
  EXPECT_THROW(submit_prepared(prepared, store_, slurm.client(),
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
  Pretended slurm{.queue = "1_0|PENDING|" + prepared.submission.arrays[0].comment +
                           "|None\n2_0|PENDING|" + prepared.submission.arrays[1].comment +
                           "|None\n9_0|PENDING|depthgrid:0c2d:0|None\n"};
  EXPECT_THROW(submit_prepared(prepared, store_, slurm.client(), [&] { return slurm.arrays == 2; }),
               UserError);
  EXPECT_EQ(slurm.cancelled, Words{"2_0"}) << "nobody else has the first";
}

}  // namespace prepared_submission_test
}  // namespace depthgrid
