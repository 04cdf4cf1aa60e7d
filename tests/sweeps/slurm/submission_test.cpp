#include "sweeps/slurm/submission.hpp"

#include <set>

#include <gtest/gtest.h>

#include "core/base/nan.hpp"
#include "sweeps/slurm/slurm_text.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace submission_test {

Submission two_arrays() {
  return {.id = "0a1b",
          .time = "2026-01-01T00:00:00Z",
          .tasks = {{"c0"}, {"c1", "c2"}, {"c3"}},
          .arrays = {{.script = "array-0.sbatch",
                      .comment = "depthgrid:0a1b:0",
                      .first = 0,
                      .tasks = 2,
                      .ranks = 4,
                      .job = "11",
                      .canary = true},
                     {.script = "array-1.sbatch",
                      .comment = "depthgrid:0a1b:1",
                      .first = 2,
                      .tasks = 1,
                      .job = "",
                      .canary = false}},
          .words = {"--exclusive"}};
}

TEST(Submission, ComesBackAsItWasKept) {
  const TemporaryFolder store;
  keep_submission(store.path(), two_arrays());
  const auto found = submissions(store.path());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].tasks, two_arrays().tasks);
  ASSERT_EQ(found[0].arrays.size(), 2U);
  EXPECT_EQ(found[0].arrays[0].job, "11");
  EXPECT_TRUE(found[0].arrays[0].canary);
  EXPECT_EQ(found[0].arrays[0].ranks, 4);
  EXPECT_EQ(found[0].arrays[1].first, 2);
  EXPECT_EQ(found[0].words, std::vector<std::string>{"--exclusive"});
  EXPECT_EQ(submission_of(store.path(), "0a1b").value().tasks.size(), 3U);
  EXPECT_FALSE(submission_of(store.path(), "none"));
}

TEST(Submission, TasksInTheQueueAreFoundByTheirCommentsEvenIfTheIdWasNeverLearnt) {
  const auto queue = queued_tasks(
      "11_1|RUNNING|depthgrid:0a1b:0|None\n"
      "15_0|PENDING|depthgrid:0a1b:1|Resources\n"
      "16_0|PENDING|depthgrid:other:0|Resources\n"
      "17|RUNNING|(null)|None\n"
      "garbage\n");
  ASSERT_EQ(queue.size(), 4U);
  EXPECT_EQ(queue[0].array, "11");
  EXPECT_EQ(queue[0].index, 1);
  const auto live = live_tasks({two_arrays()}, queue);
  ASSERT_EQ(live.size(), 2U);
  EXPECT_EQ(live[0].cells, (std::vector<std::string>{"c1", "c2"}));
  EXPECT_EQ(live[1].task, 2);
  EXPECT_EQ(live[1].cells, std::vector<std::string>{"c3"});

  const auto needless = [&](std::set<std::string> named, std::set<std::string> over) {
    return needless_tasks(
        live, [&](const std::string& cell) { return named.contains(cell); },
        [&](const std::string& cell) { return over.contains(cell); });
  };
  EXPECT_TRUE(needless({"c1", "c2"}, {"c1", "c2"}).empty()) << "that task runs, and ends by itself";
  EXPECT_EQ(needless({"c3"}, {"c1", "c3"}), std::vector<std::string>{"15_0"});
  EXPECT_TRUE(needless({"c1"}, {"c1", "c3"}).empty()) << "nobody has named its cell";
}

TEST(Submission, ACanaryForWhichOthersWaitStaysInTheQueue) {
  Submission submission = two_arrays();
  submission.arrays[0].canary = true;
  const auto live = live_tasks({submission}, queued_tasks("11_0|PENDING|depthgrid:0a1b:0|None\n"
                                                          "15_0|PENDING|depthgrid:0a1b:1|Dep\n"));
  ASSERT_EQ(live.size(), 2U);
  const auto needless = [&](std::set<std::string> cells) {
    const auto has = [&](const std::string& cell) { return cells.contains(cell); };
    return needless_tasks(live, has, has);
  };
  const std::set<std::string> canary(live[0].cells.begin(), live[0].cells.end());
  EXPECT_TRUE(needless(canary).empty()) << "Slurm would remove 15_0 as well";
  std::set<std::string> all = canary;
  all.insert(live[1].cells.begin(), live[1].cells.end());
  EXPECT_EQ(needless(all), (std::vector<std::string>{"11_0", "15_0"}));
  const auto main = [&](const std::string& cell) { return cell == live[1].cells[0]; };
  const auto over = [&](const std::string& cell) { return all.contains(cell); };
  EXPECT_EQ(needless_tasks(live, main, over), (std::vector<std::string>{"11_0", "15_0"}))
      << "a canary that was spared before goes with the last one";
}

TEST(Submission, TasksThatAnotherSubmissionHasAsWellAreFound) {
  Submission late = two_arrays(), other = two_arrays();
  other.id = "0c2d";
  other.arrays[0].comment = "depthgrid:0c2d:0";
  other.arrays[1].comment = "depthgrid:0c2d:1";
  const auto live = live_tasks({late, other}, queued_tasks("11_1|PENDING|depthgrid:0a1b:0|None\n"
                                                           "15_0|PENDING|depthgrid:0a1b:1|None\n"
                                                           "21_0|PENDING|depthgrid:0c2d:1|None\n"));
  ASSERT_EQ(live.size(), 3U);
  EXPECT_EQ(doubled_tasks(live, "0a1b"), std::vector<std::string>{"15_0"});
}

TEST(Submission, ArraysHaveNoMoreTasksThanSlurmAllows) {
  EXPECT_EQ(array_sizes(2500, 1001), (std::vector<std::int64_t>{1001, 1001, 498}));
  EXPECT_EQ(array_sizes(1001, 1001), std::vector<std::int64_t>{1001});
  EXPECT_TRUE(array_sizes(0, 1001).empty());
}

TEST(Submission, JobsFillTasksUpToTheirRoom) {
  const std::vector<std::vector<std::string>> jobs = {{"a"}, {"b"}, {"c"}, {"d"}, {"e"}};
  const std::vector<double> each(5, 10);
  EXPECT_EQ(tasks_of(jobs, each, 25, 1).size(), 3U);
  EXPECT_EQ(tasks_of(jobs, each, 5, 1).size(), 5U) << "a task has at least one";
  EXPECT_EQ(tasks_of(jobs, each, 5, 2).size(), 3U) << "or as many as there are slots";
  EXPECT_EQ(tasks_of(jobs, std::vector<double>(5, kNaN), 1e9, 2).size(), 3U);
}

}  // namespace submission_test
}  // namespace depthgrid
