#include "sweeps/slurm/node_exclusion.hpp"

#include <gtest/gtest.h>

#include "sweeps/slurm/slurm_text.hpp"
#include "sweeps/slurm/submission.hpp"
#include "tests/storage/temporary_folder.hpp"
#include "tests/sweeps/slurm/pretended_scheduler.hpp"

namespace depthgrid {
namespace node_exclusion_test {

using Names = std::vector<std::string>;

/// A store with three arrays in the queue, and a cluster of four nodes.
class NodeExclusion : public ::testing::Test {
 protected:
  NodeExclusion() {
    Submission ours{.id = "5b", .time = "2026-01-01T00:00:00Z", .tasks = {}, .arrays = {}};
    for (const char* array : {"7", "8", "9"}) {
      const std::string n = std::to_string(ours.arrays.size());
      ours.tasks.push_back({"c" + n});
      ours.arrays.push_back({.script = "array-" + n + ".sbatch",
                             .comment = "depthgrid:5b:" + n,
                             .tasks = 2,
                             .job = array});
    }
    keep_submission(store_.path(), ours);
    slurm_.tasks = queued_tasks(
        "7_0|RUNNING|depthgrid:5b:0|None\n7_1|PENDING|depthgrid:5b:0|Priority\n"
        "8_0|PENDING|depthgrid:5b:1|Priority\n8_1|PENDING|depthgrid:5b:1|Priority\n"
        "9_0|RUNNING|depthgrid:5b:2|None\n10_0|PENDING|of another|Priority\n");
    slurm_.known = {"n1", "n2", "n3", "n4"};
    slurm_.all = slurm_partitions("gpu*|4|8|16000|(null)|infinite\n");
  }
  void fail(const std::string& node, const std::string& task = "7_0") {
    record_node_fault(store_.path(), {.node = node, .cause = "device", .why = "-", .task = task});
  }

  std::string keep_away() const {
    return keep_waiting_away(slurm_, store_.path(), faults_here(slurm_, store_.path()));
  }
  std::string sweep_fault_of(const std::string& partitions) const {
    return sweep_fault_on(faults_here(slurm_, store_.path()),
                          partitions_named(slurm_.all, partitions), "st");
  }

  const TemporaryFolder store_;
  testing::PretendedScheduler slurm_;
};

TEST_F(NodeExclusion, WhatWaitsIsKeptAwayBesidesWhatItsUserHasLeftOut) {
  slurm_.kept_from["8"] = {"n[3-4]"};
  EXPECT_EQ(keep_away(), "");
  EXPECT_EQ(slurm_.asked, 0) << "no node is at fault, so nobody is asked";
  fail("n1");
  EXPECT_EQ(keep_away(), "");
  EXPECT_EQ(slurm_.kept_from.at("7"), Names{"n1"});
  EXPECT_EQ(slurm_.kept_from.at("8"), (Names{"n[3-4]", "n1"}));
  EXPECT_FALSE(slurm_.kept_from.contains("9")) << "all of it runs";
  EXPECT_FALSE(slurm_.kept_from.contains("10")) << "it is not of this store";
}

TEST_F(NodeExclusion, AReadmittedNodeIsOpenToWhatWaits) {
  slurm_.kept_from["8"] = {"n[3-4]"};
  fail("n1");
  keep_away();
  EXPECT_EQ(let_waiting_use(slurm_, store_.path(), "n1"), "");
  EXPECT_EQ(slurm_.kept_from.at("7"), Names{});
  EXPECT_EQ(slurm_.kept_from.at("8"), Names{"n[3-4]"});
}

TEST_F(NodeExclusion, NamesThatTheClusterDoesNotHaveAreNotNamedToIt) {
  fail("n2");
  fail("elsewhere");
  EXPECT_EQ(excluded_nodes(slurm_, store_.path()), Names{"n2"});
  EXPECT_EQ(keep_away(), "");
  EXPECT_EQ(slurm_.kept_from.at("8"), Names{"n2"});
  slurm_.known.clear();  // sinfo does not answer
  fail("laptop", "");
  EXPECT_EQ(excluded_nodes(slurm_, store_.path()), (Names{"elsewhere", "n2"}));
}

TEST_F(NodeExclusion, WhatTheSchedulerObjectsToIsTold) {
  fail("n1");
  slurm_.silent = "squeue: no answer within 5 s";
  EXPECT_EQ(keep_away(), slurm_.silent);
}

TEST_F(NodeExclusion, TooManyNodesOfItsPartitionsAreTheSweepsFault) {
  const auto said = [&] { return sweep_fault_of(""); };
  EXPECT_EQ(said(), "");
  fail("n1");
  fail("elsewhere");
  EXPECT_EQ(said(), "");
  fail("n2");
  EXPECT_NE(said().find("2 of 4 nodes"), std::string::npos) << said();
  EXPECT_EQ(sweep_fault_of("nobody knows it"), "");
}

}  // namespace node_exclusion_test
}  // namespace depthgrid
