#include "sweeps/run/task_end.hpp"

#include <set>
#include <string>

#include <gtest/gtest.h>

#include "storage/files/lease_keeper.hpp"
#include "storage/files/publish.hpp"
#include "sweeps/launch/launch_record.hpp"
#include "sweeps/slurm/partition.hpp"
#include "sweeps/slurm/slurm_text.hpp"
#include "sweeps/slurm/submission.hpp"
#include "tests/storage/synthetic_sweep.hpp"
#include "tests/storage/temporary_folder.hpp"
#include "tests/sweeps/slurm/pretended_scheduler.hpp"

namespace depthgrid {
namespace task_end_test {

TEST(TaskReturn, ANodeIsAtFaultIfItsLaunchesLeftCellsThatWouldBeTriedAgain) {
  const TemporaryFolder scratch;
  const Sweep sweep = synthetic_sweep({1e-3, 2e-3}, 1);
  const Store store = Store::open_or_create(scratch.path() / "store");
  const std::vector<std::string> cells = {sweep.cells[0].id, sweep.cells[1].id};
  const auto launched = [&](LaunchEnd end, const std::string& task, const std::string& node) {
    LaunchRecord record;
    record.id = "0123456789ab";
    record.cells = {cells[0]};
    record.host = node;
    record.slurm_job = task;
    record.end = end;
    record.cause = end == LaunchEnd::Infrastructure && !node.empty() ? "card" : "";
    make_folders(launch_folder(store.root(), record.id));
    record.attempt = next_attempt(launch_folder(store.root(), record.id));
    keep_record(store.root(), record);
  };
  launched(LaunchEnd::Crash, "7_1", "n1");
  launched(LaunchEnd::Infrastructure, "7_2", "n1");
  launched(LaunchEnd::Infrastructure, "7_1", "n2");
  using Nodes = std::set<std::string>;
  const auto nodes_at_fault = [](const Store& where, const std::vector<std::string>& ids,
                                 const std::string& task, std::int64_t restart) {
    Nodes out;
    for (const NodeFault& fault : faults_of_task(where, ids, task, restart)) out.insert(fault.node);
    return out;
  };
  EXPECT_EQ(nodes_at_fault(store, cells, "7_1", 0), Nodes{"n2"});
  EXPECT_EQ(nodes_at_fault(store, {cells[1]}, "7_1", 0), Nodes{}) << "not of these cells";
  launched(LaunchEnd::Infrastructure, "7_1", "n1");
  EXPECT_EQ(nodes_at_fault(store, cells, "7_1", 0), (Nodes{"n1", "n2"}));
  launched(LaunchEnd::Infrastructure, "7_3", "");
  EXPECT_EQ(nodes_at_fault(store, cells, "7_3", 0), Nodes{""}) << "one of several";
  EXPECT_EQ(nodes_at_fault(store, cells, "7_3", 1), Nodes{}) << "of its first start";

  {  // by its cause and not by a code: 78 of a device, and of a configuration
    LaunchRecord refused;
    refused.id = "prepare-7_4";
    refused.cells = cells;
    refused.host = "n1";
    refused.slurm_job = "7_4";
    refused.end = LaunchEnd::Refused;
    refused.code = 78;
    make_folders(launch_folder(store.root(), refused.id));
    keep_record(store.root(), refused);
    EXPECT_EQ(nodes_at_fault(store, cells, "7_4", 0), Nodes{});
    refused.cause = "device";
    keep_record(store.root(), refused);
    EXPECT_EQ(nodes_at_fault(store, cells, "7_4", 0), Nodes{"n1"});
  }

  LeaseKeeper leases;
  const auto fail = [&](const char* report) {
    const auto lease = leases.try_acquire(store.cell_dir(cells[0]));
    store.publish_failure(cells[0], lease->generation(), CellStatus::Failed, report);
  };
  fail(R"({"class": "infrastructure"})");
  EXPECT_EQ(nodes_at_fault(store, cells, "7_2", 0), Nodes{"n1"});
  fail(R"({"class": "crash"})");
  EXPECT_EQ(nodes_at_fault(store, cells, "7_2", 0), Nodes{}) << "the cell itself fails";
}

TEST(TaskReturn, MoreNodesAtFaultThanATenthEndTheSweep) {
  const TemporaryFolder scratch;
  const Sweep sweep = synthetic_sweep({1e-3, 2e-3}, 1);
  const Store store = Store::open_or_create(scratch.path() / "store");
  EventLog events(store.root(), "7_1");
  testing::PretendedScheduler slurm;
  slurm.known = {"n1", "n2", "n3", "n4"};
  slurm.all = slurm_partitions("gpu*|4|8|16000|(null)|infinite\n");
  const auto left_out = [&](const char* node) {
    return leave_out_nodes(sweep, store, events, scratch.path() / "tasks.txt",
                           {{.node = node, .cause = "device", .why = "too old", .task = "7_1"}},
                           slurm);
  };
  EXPECT_EQ(leave_out_nodes(sweep, store, events, scratch.path() / "tasks.txt", {}, slurm), "");
  EXPECT_EQ(left_out("n1"), "");
  EXPECT_EQ(left_out("n1"), "") << "the same";
  const std::string over = left_out("n2");
  EXPECT_NE(over.find("n1"), std::string::npos) << over;
  EXPECT_NE(over.find("device"), std::string::npos) << over;
  std::vector<std::string> told;
  for (const SweepEvent& event : read_sweep_events(store.root()).events) {
    told.push_back(event.node + " " + event.message);
  }
  EXPECT_EQ(told, (std::vector<std::string>{"n1 device: too old", "n2 device: too old"}))
      << "each once";
}

TEST(TaskReturn, OfSeveralFaultsSlurmIsToldAtOnce) {
  const TemporaryFolder scratch;
  const Sweep sweep = synthetic_sweep({1e-3, 2e-3}, 1);
  const Store store = Store::open_or_create(scratch.path() / "store");
  keep_submission(
      store.root(),
      {.id = "5b",
       .time = "2026-01-01T00:00:00Z",
       .tasks = {{"c"}},
       .arrays = {
           {.script = "array-0.sbatch", .comment = "depthgrid:5b:0", .tasks = 1, .job = "7"}}});
  EventLog events(store.root(), "8_0");
  testing::PretendedScheduler slurm;
  slurm.tasks = queued_tasks("7_0|PENDING|depthgrid:5b:0|Priority\n");
  for (int n = 1; n <= 40; ++n) slurm.known.push_back("n" + std::to_string(n));
  slurm.all = slurm_partitions("gpu*|40|8|16000|(null)|infinite\n");
  std::vector<NodeFault> faults;
  for (const char* node : {"n1", "n2", "n3"}) {
    faults.push_back({.node = node, .cause = "device", .why = "too old", .task = "8_0"});
  }
  EXPECT_EQ(leave_out_nodes(sweep, store, events, scratch.path() / "tasks.txt", faults, slurm), "");
  EXPECT_EQ(slurm.kept_from.at("7"), (std::vector<std::string>{"n1", "n2", "n3"}));
  EXPECT_EQ(slurm.asked, 1) << "for its queue";
  EXPECT_EQ(slurm.named, 1) << "for its nodes";
  EXPECT_EQ(slurm.sized, 1) << "for its partitions";
}

}  // namespace task_end_test
}  // namespace depthgrid
