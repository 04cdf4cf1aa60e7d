#include "sweeps/slurm/queue_report.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/base/json_text.hpp"
#include "sweeps/slurm/slurm_text.hpp"
#include "sweeps/slurm/submission.hpp"
#include "tests/storage/temporary_folder.hpp"
#include "tests/sweeps/slurm/pretended_scheduler.hpp"

namespace depthgrid {
namespace queue_report_test {

using Pretended = depthgrid::testing::PretendedScheduler;

/// What a scheduler says now.
QueueReport report_of(const TemporaryFolder& folder, const Pretended& slurm) {
  return QueueWatch(slurm, [] { return 0.0; }).report(folder.path());
}

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
  Pretended slurm;
  slurm.tasks = queued_tasks(
      "7_0|RUNNING|depthgrid:5b:0|None\n7_1|PENDING|depthgrid:5b:0|Priority\n"
      "7_2|PENDING|depthgrid:5b:0|Priority\n9|PENDING|of somebody else|Priority\n");
  slurm.seconds = 5 * 3600;

  const QueueReport found = report_of(folder, slurm);

  ASSERT_EQ(found.groups.size(), 2U);
  EXPECT_EQ(found.groups[0].state, "PENDING");
  EXPECT_EQ(found.groups[0].reason, "Priority");
  EXPECT_EQ(found.groups[0].tasks, 2);
  EXPECT_EQ(found.groups[0].cells, 2);
  EXPECT_EQ(found.groups[1].state, "RUNNING");
  EXPECT_EQ(found.groups[1].cells, 2);
  EXPECT_NE(queue_text(found).find("Priority"), std::string::npos) << queue_text(found);
  EXPECT_NE(queue_text(found).find("5 GPU-hours"), std::string::npos) << queue_text(found);
  const auto json = parse_json(queue_json(found));
  EXPECT_EQ(json["tasks"][1]["tasks"], 1);
  EXPECT_DOUBLE_EQ(json["gpu_hours_allocated"].get<double>(), 5);
}

TEST(QueueReport, AsksNobodyForAStoreThatWasNeverSubmitted) {
  const TemporaryFolder folder;
  const Pretended slurm;
  const QueueReport found = report_of(folder, slurm);
  EXPECT_EQ(slurm.asked + slurm.counted, 0);
  EXPECT_EQ(queue_text(found), "");
  EXPECT_EQ(queue_json(found), "null");
}

TEST(QueueReport, AControllerThatIsAwayIsAProblemAndNoEmptyQueue) {
  const TemporaryFolder folder;
  submit(folder.path());
  Pretended slurm;
  slurm.silent = "squeue: Unable to contact slurm controller";
  const QueueReport found = report_of(folder, slurm);
  EXPECT_NE(queue_text(found).find("is not known"), std::string::npos);
  EXPECT_TRUE(parse_json(queue_json(found))["problem"].is_string());
  EXPECT_EQ(slurm.counted, 0) << "who is away has no accounts either";
}

TEST(QueueReport, WithoutAccountingNoHoursAreClaimed) {
  const TemporaryFolder folder;
  submit(folder.path());
  const QueueReport found = report_of(folder, Pretended());
  EXPECT_FALSE(found.gpu_seconds);
  EXPECT_NE(queue_text(found).find("no task of this store"), std::string::npos);
}

TEST(QueueReport, WatchingAsksTheQueueTwiceAMinuteAndTheAccountsEveryFiveMinutes) {
  const TemporaryFolder folder;
  submit(folder.path());
  Pretended slurm;
  slurm.tasks = queued_tasks("7_1|PENDING|depthgrid:5b:0|Priority\n");
  slurm.seconds = 60;
  double now = 100;
  QueueWatch watch(slurm, [&] { return now; });
  EXPECT_EQ(queue_text(watch.report(folder.path())).find("ago"), std::string::npos);
  slurm.tasks.clear();
  slurm.seconds = 120;
  for (now = 102; now < 130; now += 2) {
    const QueueReport kept = watch.report(folder.path());
    EXPECT_EQ(kept.groups.size(), 1U) << "at " << now << " it is what was said";
    EXPECT_DOUBLE_EQ(kept.age, now - 100);
  }
  EXPECT_EQ(slurm.asked, 1);
  now = 112;
  EXPECT_NE(queue_text(watch.report(folder.path())).find("0:12 ago"), std::string::npos);
  EXPECT_DOUBLE_EQ(parse_json(queue_json(watch.report(folder.path())))["age_seconds"], 12);
  now = 130;
  EXPECT_TRUE(watch.report(folder.path()).groups.empty());
  EXPECT_EQ(slurm.asked, 2);
  EXPECT_EQ(slurm.counted, 1);
  for (; now <= 400; now += 2) watch.report(folder.path());
  EXPECT_EQ(slurm.asked, 11);
  EXPECT_EQ(slurm.counted, 2);
  EXPECT_DOUBLE_EQ(watch.report(folder.path()).gpu_seconds.value(), 120);
}

TEST(QueueReport, WatchingDoesNotPressAControllerThatIsAway) {
  const TemporaryFolder folder;
  submit(folder.path());
  Pretended slurm;
  slurm.silent = "squeue: no answer within 5 s";
  double now = 0;
  QueueWatch watch(slurm, [&] { return now; });
  for (; now < 30; now += 2) EXPECT_FALSE(watch.report(folder.path()).problem.empty());
  EXPECT_EQ(slurm.asked, 1);
  slurm.silent.clear();
  EXPECT_TRUE(watch.report(folder.path()).problem.empty());
}

}  // namespace queue_report_test
}  // namespace depthgrid
