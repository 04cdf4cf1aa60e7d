#include "sweeps/slurm/queue_report.hpp"

#include <cmath>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/base/json_text.hpp"
#include "sweeps/slurm/submission.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace queue_report_test {

/// A Slurm that answers what it is told to.
struct Answers {
  CommandAnswer squeue, sacct;
  std::vector<std::string> asked;

  CommandRunner run() {
    return [this](const std::vector<std::string>& command, double) {
      asked.push_back(command.front());
      return command.front() == "sacct" ? sacct : squeue;
    };
  }
};

void submit(const std::filesystem::path& store) {
  Submission s{.id = "5b",
               .time = "2026-01-01T00:00:00Z",
               .tasks = {{"a", "b"}, {"c"}, {"d"}},
               .arrays = {}};
  s.arrays.push_back(
      {.script = "array-0.sbatch", .comment = "depthgrid:5b:0", .tasks = 3, .job = "7"});
  keep_submission(store, s);
}

TEST(QueueReport, CountsTasksAndCellsByStateAndReason) {
  const TemporaryFolder folder;
  submit(folder.path());
  Answers slurm;
  slurm.squeue.out =
      "7_0|RUNNING|depthgrid:5b:0|None\n7_1|PENDING|depthgrid:5b:0|Priority\n"
      "7_2|PENDING|depthgrid:5b:0|Priority\n9|PENDING|of somebody else|Priority\n";
  slurm.sacct.out = "3600|billing=8,cpu=8,gres/gpu=4,node=1\n60|cpu=1,node=1\n1800|gres/gpu=2\n";

  const QueueReport found = queue_report(folder.path(), slurm.run());

  ASSERT_EQ(found.groups.size(), 2U);
  EXPECT_EQ(found.groups[0].state, "PENDING");
  EXPECT_EQ(found.groups[0].reason, "Priority");
  EXPECT_EQ(found.groups[0].tasks, 2);
  EXPECT_EQ(found.groups[0].cells, 2);
  EXPECT_EQ(found.groups[1].state, "RUNNING");
  EXPECT_EQ(found.groups[1].cells, 2);
  EXPECT_DOUBLE_EQ(found.gpu_seconds.value(), 4 * 3600 + 2 * 1800);
  EXPECT_NE(queue_text(found).find("Priority"), std::string::npos) << queue_text(found);
  EXPECT_NE(queue_text(found).find("5 GPU-hours"), std::string::npos) << queue_text(found);
  const auto json = parse_json(queue_json(found));
  EXPECT_EQ(json["tasks"][1]["tasks"], 1);
  EXPECT_DOUBLE_EQ(json["gpu_hours_allocated"].get<double>(), 5);
}

TEST(QueueReport, AsksNobodyForAStoreThatWasNeverSubmitted) {
  const TemporaryFolder folder;
  Answers slurm;
  const QueueReport found = queue_report(folder.path(), slurm.run());
  EXPECT_TRUE(slurm.asked.empty());
  EXPECT_EQ(queue_text(found), "");
  EXPECT_EQ(queue_json(found), "null");
}

TEST(QueueReport, AControllerThatIsAwayIsAProblemAndNoEmptyQueue) {
  const TemporaryFolder folder;
  submit(folder.path());
  Answers slurm;
  slurm.squeue = {
      .code = 1, .out = {}, .err = "slurm_load_jobs error: Unable to contact slurm controller"};
  const QueueReport found = queue_report(folder.path(), slurm.run());
  EXPECT_NE(queue_text(found).find("is not known"), std::string::npos);
  EXPECT_TRUE(parse_json(queue_json(found))["problem"].is_string());
}

TEST(QueueReport, SaysHowLongItHasWaited) {
  const TemporaryFolder folder;
  submit(folder.path());
  double waited = 0;
  const QueueReport found =
      queue_report(folder.path(), [&](const std::vector<std::string>&, double seconds) {
        waited = seconds;
        return CommandAnswer{.code = 143, .late = true, .out = {}, .err = {}};
      });
  EXPECT_LT(waited, 10) << "a person waits";
  EXPECT_NE(found.problem.find("no answer within " + std::to_string(std::lround(waited)) + " s"),
            std::string::npos)
      << found.problem;
}

TEST(QueueReport, WithoutAccountingNoHoursAreClaimed) {
  const TemporaryFolder folder;
  submit(folder.path());
  Answers slurm;
  slurm.sacct = {.code = 1, .out = {}, .err = "Slurm accounting storage is disabled"};
  const QueueReport found = queue_report(folder.path(), slurm.run());
  EXPECT_FALSE(found.gpu_seconds);
  EXPECT_NE(queue_text(found).find("no task of this store"), std::string::npos);
}

}  // namespace queue_report_test
}  // namespace depthgrid
